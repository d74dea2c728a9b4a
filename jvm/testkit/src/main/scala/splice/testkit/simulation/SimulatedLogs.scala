// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.testkit.simulation

import scala.collection.immutable.{SortedMap, SortedSet}

import splice.coordinator.OffsetLog

/** Spark's offset log and commit log of one checkpoint. Under asynchronous progress tracking they have gaps.
  *
  * @param retained
  *   for how many batches before the last one Spark keeps the offsets
  */
final class SimulatedLogs(life: Life, retained: Int) extends OffsetLog {

  private var offsets: SortedMap[Long, String] = SortedMap.empty
  private var commits: SortedSet[Long]         = SortedSet.empty

  def writeOffsets(batch: Long, until: String): Unit = {
    life.reach(CrashPoint.BeforeOffsets)
    if (offsets.contains(batch)) throw new IllegalStateException(s"offsets/$batch is there already")
    offsets += batch -> until
    life.step(s"offsets/$batch: $until")
    life.reach(CrashPoint.AfterOffsets)
  }

  def writeCommit(batch: Long): Unit = {
    life.reach(CrashPoint.BeforeCommits)
    commits += batch
    life.step(s"commits/$batch")
    offsets = offsets.takeRight(retained + 1)
    commits = commits.takeRight(retained + 1)
    life.reach(CrashPoint.AfterCommits)
  }

  /** The last batch that was begun durably, and where it goes to. */
  def last: Option[(Long, String)] = offsets.lastOption

  override def latest(): Option[String] = last.map(_._2)

  override def oldest(): Option[String] = offsets.headOption.filter(_._1 > 0).map(_._2)

  /** The batch that was begun before `batch`, as far as the log knows. */
  def before(batch: Long): Option[(Long, String)] = offsets.rangeUntil(batch).lastOption

  /** The last batch that is done durably; -1 when there is none. */
  def lastCommitted: Long = commits.lastOption.getOrElse(-1L)

  /** That batch, and where it went to. */
  def committed: Option[(Long, String)] = offsets.rangeTo(lastCommitted).lastOption

  /** Whether some batch goes to this position. */
  def isLogged(until: String): Boolean = offsets.valuesIterator.contains(until)

  def isCommitted(batch: Long): Boolean = commits(batch)
}
