// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.testkit.simulation

import scala.util.control.ControlThrowable

/** Simulates a killed driver. Extends `ControlThrowable`, because no handler of the code under test may catch the
  * crash.
  */
final class Crash(val at: CrashPoint) extends ControlThrowable(s"killed $at")

/** Failure of one attempt of a task on its executor. */
final class TaskFailure(text: String) extends RuntimeException(text, None.orNull, false, false)

/** Point at which a driver can be killed. */
sealed abstract class CrashPoint(override val toString: String) extends Product with Serializable

object CrashPoint {
  case object BeforeEntry      extends CrashPoint("before a side-log entry")
  case object AfterEntry       extends CrashPoint("after a side-log entry")
  case object BeforeOffsets    extends CrashPoint("before offsets/N")
  case object AfterOffsets     extends CrashPoint("after offsets/N")
  case object BeforeCommit     extends CrashPoint("before the source's commit")
  case object AfterCommit      extends CrashPoint("after the source's commit")
  case object InTask           extends CrashPoint("in the middle of a task")
  case object BeforeSinkCommit extends CrashPoint("before the sink's commit")
  case object AfterSinkCommit  extends CrashPoint("after the sink's commit")
  case object BeforeCommits    extends CrashPoint("before commits/N")
  case object AfterCommits     extends CrashPoint("after commits/N")

  /** A frozen driver does not resume. */
  case object Frozen extends CrashPoint("while it is frozen")

  val all: Seq[CrashPoint] = Seq(
    BeforeEntry,
    AfterEntry,
    BeforeOffsets,
    AfterOffsets,
    BeforeCommit,
    AfterCommit,
    InTask,
    BeforeSinkCommit,
    AfterSinkCommit,
    BeforeCommits,
    AfterCommits
  )
}
