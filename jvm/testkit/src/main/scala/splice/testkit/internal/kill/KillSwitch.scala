// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.testkit.internal.kill

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.StandardOpenOption.{APPEND, CREATE}
import java.nio.file.{Files, Path}
import java.util.concurrent.atomic.AtomicInteger

/** Observes and traces the steps of this process, and acts at the planned steps. Thread-safe.
  *
  * The environment variable `SPLICE_KILL_AT` contains [[KillPlan]]s, one per line. The file of `SPLICE_KILL_TRACE`
  * receives one line per step except rows, and `acts: <step>` before an action. The file of `SPLICE_KILL_ROWS`
  * receives each row.
  */
private[splice] object KillSwitch {

  private val plans = sys.env.get("SPLICE_KILL_AT").toSeq.flatMap(_.linesIterator).map(KillPlan.read)
  private val seen  = plans.map(_ -> new AtomicInteger)
  private val trace = sys.env.get("SPLICE_KILL_TRACE").map(Path.of(_))
  private val rows  = sys.env.get("SPLICE_KILL_ROWS").map(Path.of(_))

  /** Runs `happens` between its `before` and `after` steps. */
  def around[T](kind: String, name: String)(happens: => T): T = {
    passes(Step("before", kind, name))
    val result = happens
    passes(Step("after", kind, name))
    result
  }

  def passesRow(id: String): Unit = {
    note(rows, id)
    act(Step("before", "row", id))
  }

  private def passes(step: Step): Unit = {
    note(trace, step.toString)
    act(step)
  }

  private def act(step: Step): Unit = seen.foreach { case (plan, count) =>
    if (plan.fits(step) && count.incrementAndGet() == plan.nth) {
      note(trace, s"acts: $step")
      plan.action(step)
    }
  }

  private def note(file: Option[Path], line: String): Unit =
    file.foreach(Files.writeString(_, s"$line\n", UTF_8, CREATE, APPEND))
}
