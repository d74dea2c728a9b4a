// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source.runtime

import scala.reflect.ClassTag

/** Runs work of an enumerator on executors. The query's thread calls it. */
trait Jobs {

  /** Runs one task per input and returns the results in the order of the inputs.
    *
    * @param near
    *   hosts that hold the data of an input, best first
    * @param task
    *   Java-serialised
    */
  def run[A, B: ClassTag](inputs: Seq[A])(near: A => Seq[String])(task: A => B): Seq[B]
}

private[splice] object Jobs {

  /** Runs the tasks in the thread of the caller, where no session runs tasks. */
  object InThread extends Jobs {
    override def run[A, B: ClassTag](inputs: Seq[A])(near: A => Seq[String])(task: A => B): Seq[B] = inputs.map(task)
  }
}
