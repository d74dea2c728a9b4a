// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.testkit.internal.kill

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.StandardOpenOption.{APPEND, CREATE}
import java.nio.file.{Files, Path}
import java.util.concurrent.atomic.{AtomicBoolean, AtomicInteger}

/** One run of queries, with actions at planned steps. Thread-safe.
  *
  * After the death of a run, each of its steps fails. The files of the run then stay as after SIGKILL.
  *
  * @param folder
  *   folder with the files of the run. Empty = all files
  * @param trace
  *   file that receives one line per step except rows, and `acts: <step>` before an action
  * @param rows
  *   file that receives each row
  */
final private[splice] class KillRun(
    val name: String,
    val folder: String,
    plans: Seq[KillPlan],
    trace: Option[Path],
    rows: Option[Path]
) {

  private val seen = plans.map(_ -> new AtomicInteger)
  private val dead = new AtomicBoolean

  def isDead: Boolean = dead.get

  def die(): Unit = dead.set(true)

  def contains(path: String): Boolean = folder.isEmpty || path.startsWith(s"$folder/")

  /** Runs `happens` between its `before` and `after` steps. */
  def around[T](kind: String, name: String)(happens: => T): T = {
    passes(Step("before", kind, name))
    val result = happens
    passes(Step("after", kind, name))
    result
  }

  def passesRow(id: String): Unit = {
    requireLife(id)
    note(rows, id)
    act(Step("before", "row", id))
  }

  /** @throws Died if the run is dead */
  def requireLife(step: String): Unit = if (isDead) throw new Died(step)

  private def passes(step: Step): Unit = {
    requireLife(step.toString)
    note(trace, step.toString)
    act(step)
  }

  private def act(step: Step): Unit = seen.foreach { case (plan, count) =>
    if (plan.fits(step) && count.incrementAndGet() == plan.nth) {
      note(trace, s"acts: $step")
      plan.action(step, this)
    }
  }

  private def note(file: Option[Path], line: String): Unit =
    file.foreach(Files.writeString(_, s"$line\n", UTF_8, CREATE, APPEND))
}
