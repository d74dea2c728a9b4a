// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.coordinator.internal

/** Decides when Spark may plan the tasks of a continuous query again. Any thread may call all methods.
  *
  * Spark numbers the epochs of the new tasks from the last committed epoch. Spark's offset log keeps the first offset
  * of each number. Suppose that an epoch has an end, but no commit, when tasks are planned again. Spark would later
  * commit this epoch with the end of the old tasks. A query that then restarts would skip rows that the new tasks have
  * not read.
  *
  * Therefore tasks are planned again only while every epoch that has an end is committed. An epoch of the old tasks
  * that ends later gets the end of the last committed epoch. Tasks of each plan also commit at least one epoch, so that
  * a source that always needs new tasks makes progress.
  */
final private[splice] class EpochGuard {

  private var runs        = false
  private var uncommitted = 0
  private var advanced    = false

  /** Records that Spark plans tasks. Earlier tasks send no further reports. */
  def begin(): Unit = synchronized {
    runs = false
    uncommitted = 0
  }

  /** Records that the tasks are planned. */
  def planned(): Unit = synchronized {
    runs = true
    advanced = false
  }

  /** Records that all tasks have ended an epoch. Returns false if the tasks will be replaced. The end of the epoch must
    * then be the end of the last committed epoch.
    */
  def ended(): Boolean = synchronized {
    uncommitted += 1
    runs
  }

  /** Records that Spark has committed an epoch. */
  def committed(): Unit = synchronized {
    uncommitted -= 1
    advanced = true
  }

  /** Returns true if new tasks will replace the tasks. The replacement ends the tasks.
    *
    * @param wanted
    *   true if new tasks would read other ranges
    */
  def replace(wanted: => Boolean): Boolean = synchronized {
    val now = runs && advanced && uncommitted == 0 && wanted
    if (now) runs = false
    now
  }
}
