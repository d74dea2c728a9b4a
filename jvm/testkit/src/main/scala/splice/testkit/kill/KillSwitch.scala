// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.testkit.kill

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.StandardOpenOption.{APPEND, CREATE}
import java.nio.file.{Files, Path}
import java.util.concurrent.atomic.AtomicInteger

/** Watches the steps of this process, notes them, and acts at the chosen one. Thread-safe.
  *
  * The environment variable `SPLICE_KILL_AT` holds a [[KillPlan]]; `SPLICE_KILL_TRACE` names a file that gets a line for each step.
  */
private[kill] object KillSwitch {

  private val plan  = sys.env.get("SPLICE_KILL_AT").map(KillPlan.read)
  private val trace = sys.env.get("SPLICE_KILL_TRACE").map(Path.of(_))
  private val seen  = new AtomicInteger

  /** Runs what happens between the steps before it and after it. */
  def around[T](kind: String, name: String)(happens: => T): T = {
    passes(Step("before", kind, name))
    val result = happens
    passes(Step("after", kind, name))
    result
  }

  /** A row is too frequent to be noted. */
  def passesRow(id: String): Unit = act(Step("before", "row", id))

  private def passes(step: Step): Unit = {
    trace.foreach(Files.writeString(_, s"$step\n", UTF_8, CREATE, APPEND))
    act(step)
  }

  private def act(step: Step): Unit =
    plan.foreach(p => if (p.fits(step) && seen.incrementAndGet() == p.nth) p.action(step))
}
