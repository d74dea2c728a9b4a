// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.testkit.internal.simulation

import scala.collection.immutable.{SortedMap, SortedSet}

import splice.coordinator.internal.{EpochLog, OffsetLog}
import splice.testkit.simulation.{CrashPoint, Life}

/** Spark's offset log and commit log of one checkpoint. Under asynchronous progress tracking, both logs have gaps.
  *
  * @param retained
  *   number of batches before the last batch whose offsets Spark keeps
  */
final private[splice] class SimulatedLogs(life: Life, retained: Int) extends OffsetLog with EpochLog {

  private var offsets: SortedMap[Long, String] = SortedMap.empty
  private var commits: SortedSet[Long]         = SortedSet.empty
  private var epochs: Set[Long]                = Set.empty

  def writeOffsets(batch: Long, until: String): Unit = {
    life.reach(CrashPoint.BeforeOffsets)
    if (last.exists(_._1 >= batch)) throw new ConcurrentUpdate(s"offsets/$batch")
    offsets += batch -> until
    life.step(s"offsets/$batch: $until")
    life.reach(CrashPoint.AfterOffsets)
  }

  /** Logs the end of an epoch. Spark keeps an end that the log has already. */
  def writeEpoch(epoch: Long, until: String): Unit = {
    life.reach(CrashPoint.BeforeOffsets)
    if (!offsets.contains(epoch)) {
      offsets += epoch -> until
      epochs += epoch
    }
    life.step(s"offsets/$epoch: $until")
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

  /** Last logged batch, with its end offset. */
  def last: Option[(Long, String)] = offsets.lastOption

  override def latest(): Option[String] = last.map(_._2)

  override def oldest(): Option[String] = offsets.headOption.filter(_._1 > 0).map(_._2)

  /** Last logged batch before `batch`. */
  def before(batch: Long): Option[(Long, String)] = offsets.rangeUntil(batch).lastOption

  /** Last committed batch; -1 if none exists. */
  def lastCommitted: Long = commits.lastOption.getOrElse(-1L)

  /** Last committed batch, with its end offset. */
  def committed: Option[(Long, String)] = offsets.rangeTo(lastCommitted).lastOption

  /** Offset at which a restart begins to read; None before the first committed batch. */
  def resumesFrom: Option[String] = last.flatMap { case (batch, until) =>
    if (isEpoch(batch)) committed.map(_._2)
    else if (isCommitted(batch)) Some(until)
    else before(batch).map(_._2)
  }

  override def uncommitted(): Seq[Long] = offsets.rangeFrom(lastCommitted + 1).keys.toSeq

  override def end(batch: Long): Option[String] = offsets.get(batch)

  override def isEpoch(batch: Long): Boolean = epochs(batch)

  override def remove(batch: Long): Unit = {
    offsets -= batch
    epochs -= batch
    life.step(s"offsets/$batch is removed")
  }

  /** True if a logged batch ends at this position. */
  def isLogged(until: String): Boolean = offsets.valuesIterator.contains(until)

  def isCommitted(batch: Long): Boolean = commits(batch)

  /** Deletes the newest files, as a user does to roll back a query. `isCommitted` keeps the commit of the last
    * remaining batch.
    */
  def rollBack(batch: Long, isCommitted: Boolean): Unit = {
    offsets = offsets.rangeTo(batch)
    commits = if (isCommitted) commits.rangeTo(batch) else commits.rangeUntil(batch)
  }

  /** Logged batches. */
  def batches: Seq[Long] = offsets.keys.toSeq
}

/** Signals that another driver has written the file. Spark then fails the query. */
final private[splice] class ConcurrentUpdate(file: String) extends RuntimeException(s"$file exists")
