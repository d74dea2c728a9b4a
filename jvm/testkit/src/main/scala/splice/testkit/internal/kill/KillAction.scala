// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.testkit.internal.kill

import java.util.concurrent.CountDownLatch

import org.apache.spark.TaskContext

/** Action at a chosen step of a run. */
sealed private[splice] trait KillAction {
  def apply(step: Step, run: KillRun): Unit
}

private[splice] object KillAction {

  /** Ends the run, and lets the process live. */
  case object Die extends KillAction {
    override def apply(step: Step, run: KillRun): Unit = {
      run.die()
      run.requireLife(step.toString)
    }
  }

  /** Halts the process without shutdown hooks. */
  case object Halt extends KillAction {
    override def apply(step: Step, run: KillRun): Unit = Runtime.getRuntime.halt(137)
  }

  /** Kills the process by a signal of the operating system. */
  case object Signal extends KillAction {
    override def apply(step: Step, run: KillRun): Unit = {
      new ProcessBuilder("kill", "-KILL", ProcessHandle.current.pid.toString).start()
      forEver()
    }
  }

  /** Fails the first attempt of a task. Later attempts pass. */
  case object Fail extends KillAction {
    override def apply(step: Step, run: KillRun): Unit =
      if (isFirstAttempt) throw new IllegalStateException(s"planned failure of a task at: $step")
  }

  /** Blocks the first attempt of a task until an interrupt. Later attempts pass. */
  case object Hang extends KillAction {
    override def apply(step: Step, run: KillRun): Unit = if (isFirstAttempt) forEver()
  }

  /** Halts the executor of the first attempt of a task. Later attempts pass. */
  case object Lose extends KillAction {
    override def apply(step: Step, run: KillRun): Unit = if (isFirstAttempt) Halt(step, run)
  }

  val named: Map[String, KillAction] =
    Map("die" -> Die, "halt" -> Halt, "signal" -> Signal, "fail" -> Fail, "hang" -> Hang, "lose" -> Lose)

  private def isFirstAttempt = Option(TaskContext.get()).forall(_.attemptNumber() == 0)

  private def forEver(): Unit = new CountDownLatch(1).await()
}
