// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source.runtime

import scala.reflect.ClassTag

/** Runs tasks of an enumerator on executors. Called on the query's thread. */
trait Jobs {

  /** Runs one task per input and returns the results in the order of the inputs.
    *
    * @param near
    *   returns the hosts that store the data of an input, best host first
    * @param task
    *   function of one input. Java-serialised
    */
  def run[A, B: ClassTag](inputs: Seq[A])(near: A => Seq[String])(task: A => B): Seq[B]
}

private[splice] object Jobs {

  /** Runs the tasks in the thread of the caller, for callers without a session that runs tasks. */
  object InThread extends Jobs {
    override def run[A, B: ClassTag](inputs: Seq[A])(near: A => Seq[String])(task: A => B): Seq[B] = inputs.map(task)
  }
}
