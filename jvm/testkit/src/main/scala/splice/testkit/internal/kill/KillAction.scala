// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.testkit.internal.kill

import java.util.concurrent.CountDownLatch

import org.apache.spark.TaskContext

/** What happens to a process that comes to the chosen step. */
sealed private[splice] trait KillAction {
  def apply(step: Step): Unit
}

private[splice] object KillAction {

  /** The process ends at once, without shutdown hooks. */
  case object Halt extends KillAction {
    override def apply(step: Step): Unit = Runtime.getRuntime.halt(137)
  }

  /** The operating system kills the process. */
  case object Signal extends KillAction {
    override def apply(step: Step): Unit = {
      new ProcessBuilder("kill", "-KILL", ProcessHandle.current.pid.toString).start()
      forEver()
    }
  }

  /** The first attempt of a task fails; later attempts pass. */
  case object Fail extends KillAction {
    override def apply(step: Step): Unit =
      if (isFirstAttempt) throw new IllegalStateException(s"planned failure of a task at: $step")
  }

  /** The first attempt of a task stays where it is until it is interrupted; later attempts pass. */
  case object Hang extends KillAction {
    override def apply(step: Step): Unit = if (isFirstAttempt) forEver()
  }

  /** The executor of a task's first attempt ends at once; later attempts pass. */
  case object Lose extends KillAction {
    override def apply(step: Step): Unit = if (isFirstAttempt) Halt(step)
  }

  val named: Map[String, KillAction] =
    Map("halt" -> Halt, "signal" -> Signal, "fail" -> Fail, "hang" -> Hang, "lose" -> Lose)

  private def isFirstAttempt = Option(TaskContext.get()).forall(_.attemptNumber() == 0)

  private def forEver(): Unit = new CountDownLatch(1).await()
}
