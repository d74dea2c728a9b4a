// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.simulation

import scala.collection.mutable

import splice.source.LogPartition
import splice.testkit.internal.simulation.{ArchivedRow, SimulatedCluster, SimulatedFolder}
import splice.testkit.simulation.Life

/** Archiver that copies each readable record of a log to files once, in the order of each partition.
  *
  * @param plan
  *   defines whether some archives skip records, or have records of an older archive
  */
final class Archiver(cluster: SimulatedCluster, plan: ChainPlan, life: Life) {

  private val taken = mutable.Set.empty[Long]
  private val twice = mutable.ArrayBuffer.empty[Long]
  private val left  = mutable.Set.empty[Long]

  private val held = mutable.Set.empty[LogPartition]
  private val next = mutable.Map.empty[LogPartition, Long]

  /** Next offset to archive of a partition. */
  def position(partition: LogPartition): Long = next.getOrElse(partition, 0L)

  /** Rows of the log that the archiver skipped. */
  def skipped: collection.Set[Long] = left

  /** Rows that were archived again, with one entry per repetition. */
  def repeated: collection.Seq[Long] = twice

  /** True if a row of the partition is archived. */
  def holds(partition: LogPartition): Boolean = held(partition)

  /** Archives a part of the available records of most partitions in some files. */
  def archiveAll(folder: SimulatedFolder): Unit = {
    val some = if (plan.shape.exact) partitions.filterNot(_ => life.chance.oneIn(4)) else partitions
    val from = if (some.isEmpty) Seq(life.chance.oneOf(partitions)) else some
    from.foreach(flaw)
    val rows = from.flatMap(p => take(p, life.chance.between(1, 3)))
    rows.grouped(life.chance.between(1, 5)).foreach(folder.add)
  }

  /** Archives the next records of one partition in one file. */
  def archiveMore(folder: SimulatedFolder): Unit = {
    val rows = take(life.chance.oneOf(partitions), life.chance.between(1, 3))
    if (rows.nonEmpty) { val _ = folder.add(rows) }
  }

  private def partitions: Seq[LogPartition] =
    cluster.topics.toSeq.flatMap { case (name, topic) => topic.partitions.indices.map(LogPartition(name, _)) }

  private def flaw(partition: LogPartition): Unit = {
    val log = cluster.topic(partition.topic).partitions(partition.partition)
    val at  = position(partition)
    if (plan.skips && life.chance.oneIn(2) && at + 1 < log.stableEnd) {
      left ++= log.at(at).flatMap(_.id)
      next(partition) = at + 1
    } else if (plan.repeats && life.chance.oneIn(2) && at > log.earliest) next(partition) = at - 1
  }

  private def take(partition: LogPartition, most: Int): Seq[ArchivedRow] = {
    val log  = cluster.topic(partition.topic).partitions(partition.partition)
    val from = position(partition)
    // Records that retention removed before the archiver read the records remain a hole.
    val until = if (log.earliest > from) from else math.min(from + most, log.stableEnd)
    next(partition) = until
    val rows = for {
      offset <- from until until
      record <- log.at(offset)
      id     <- record.id
      if !cluster.isAborted(record.transaction)
    } yield ArchivedRow(id, partition.topic, partition.partition, offset, record.timestamp)
    if (rows.nonEmpty) held += partition
    twice ++= rows.map(_.id).filterNot(taken.add)
    rows
  }
}
