// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark.internal.stream

/** Decides when Spark may plan the tasks of a continuous query again. Any thread may call it.
  *
  * Spark numbers the epochs of the new tasks from the last one that is committed. Its offset log keeps the first offset of each number. So an
  * epoch that has an end and no commit at that time would be committed later with the end of the old tasks, and a query that then restarts
  * would skip the rows that the new tasks have not read. Therefore tasks are planned again only while each epoch that has an end is committed,
  * and an epoch of the old tasks that ends later has the end of the last committed one.
  */
final private[spark] class EpochGuard {

  private var runs        = false
  private var uncommitted = 0

  /** Spark plans tasks. Those before do not report any more. */
  def begin(): Unit = synchronized {
    runs = false
    uncommitted = 0
  }

  /** The tasks are planned. */
  def planned(): Unit = synchronized { runs = true }

  /** All tasks have ended an epoch. False if they will be replaced, so that the epoch must not have an end after the last committed one. */
  def ended(): Boolean = synchronized {
    uncommitted += 1
    runs
  }

  /** Spark has committed an epoch. */
  def committed(): Unit = synchronized { uncommitted -= 1 }

  /** Whether the tasks will be replaced, which ends them.
    *
    * @param wanted
    *   whether other tasks would read something else
    */
  def replace(wanted: => Boolean): Boolean = synchronized {
    val now = runs && uncommitted == 0 && wanted
    if (now) runs = false
    now
  }
}
