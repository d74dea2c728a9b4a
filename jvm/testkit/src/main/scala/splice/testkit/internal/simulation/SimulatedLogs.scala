// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.testkit.internal.simulation

import scala.collection.immutable.{SortedMap, SortedSet}

import splice.coordinator.OffsetLog
import splice.testkit.simulation.{CrashPoint, Life}

/** Spark's offset log and commit log of one checkpoint. Under asynchronous progress tracking they have gaps.
  *
  * @param retained
  *   for how many batches before the last one Spark keeps the offsets
  */
final private[splice] class SimulatedLogs(life: Life, retained: Int) extends OffsetLog {

  private var offsets: SortedMap[Long, String] = SortedMap.empty
  private var commits: SortedSet[Long]         = SortedSet.empty

  def writeOffsets(batch: Long, until: String): Unit = {
    life.reach(CrashPoint.BeforeOffsets)
    if (last.exists(_._1 >= batch)) throw new ConcurrentUpdate(s"offsets/$batch")
    offsets += batch -> until
    life.step(s"offsets/$batch: $until")
    life.reach(CrashPoint.AfterOffsets)
  }

  def writeCommit(batch: Long): Unit = {
    life.reach(CrashPoint.BeforeCommits)
    if (lastCommitted >= batch) throw new ConcurrentUpdate(s"commits/$batch")
    if (life.isResumed) life.met("a frozen driver commits after another one began")
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

  /** The offset at which a restart begins to read; None before the first batch is done. */
  def resumesFrom: Option[String] = last.flatMap { case (batch, until) =>
    if (isCommitted(batch)) Some(until) else before(batch).map(_._2)
  }

  /** Whether some batch goes to this position. */
  def isLogged(until: String): Boolean = offsets.valuesIterator.contains(until)

  def isCommitted(batch: Long): Boolean = commits(batch)

  /** Deletes the newest files, as a user does who rolls the query back; `isCommitted` keeps the commit of the last batch that stays. */
  def rollBack(batch: Long, isCommitted: Boolean): Unit = {
    offsets = offsets.rangeTo(batch)
    commits = if (isCommitted) commits.rangeTo(batch) else commits.rangeUntil(batch)
  }

  /** Where a batch goes to. */
  def offset(batch: Long): Option[String] = offsets.get(batch)

  /** The batches whose offsets are there. */
  def batches: Seq[Long] = offsets.keys.toSeq
}

/** Another driver has written this file. Spark fails the query then. */
final private[splice] class ConcurrentUpdate(file: String) extends RuntimeException(s"$file exists")
