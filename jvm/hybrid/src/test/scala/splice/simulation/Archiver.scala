// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.simulation

import scala.collection.mutable

import splice.source.LogPartition
import splice.testkit.internal.simulation.{ArchivedRow, SimulatedCluster, SimulatedFolder}
import splice.testkit.simulation.Life

/** Copies a log into files, each record once, in the order of each partition; what no reader may see it passes over.
  *
  * @param exact
  *   whether the chain hands over by offsets. Now and then an archive then skips records, or has some that an older one has.
  */
final class Archiver(cluster: SimulatedCluster, exact: Boolean, life: Life) {

  private val skipping  = exact && life.chance.oneIn(6)
  private val repeating = exact && !skipping && life.chance.oneIn(40)
  private val taken     = mutable.Set.empty[Long]
  private val twice     = mutable.ArrayBuffer.empty[Long]
  private val left      = mutable.Set.empty[Long]

  private val held = mutable.Set.empty[LogPartition]
  private val next = mutable.Map.empty[LogPartition, Long]

  /** Where it goes on in a partition. */
  def position(partition: LogPartition): Long = next.getOrElse(partition, 0L)

  /** Rows that it left out although the log held them. */
  def skipped: collection.Set[Long] = left

  /** Rows that it archived again, once for each time. */
  def repeated: collection.Seq[Long] = twice

  /** Whether it has archived any row of a partition. */
  def holds(partition: LogPartition): Boolean = held(partition)

  /** A part of what most partitions still have, in some files. */
  def archiveAll(folder: SimulatedFolder): Unit = {
    val some = if (exact) partitions.filterNot(_ => life.chance.oneIn(4)) else partitions
    val from = if (some.isEmpty) Seq(life.chance.oneOf(partitions)) else some
    from.foreach(flaw)
    val rows = from.flatMap(p => take(p, life.chance.between(1, 3)))
    rows.grouped(life.chance.between(1, 5)).foreach(folder.add)
  }

  /** The next records of one partition, as one file. */
  def archiveMore(folder: SimulatedFolder): Unit = {
    val rows = take(life.chance.oneOf(partitions), life.chance.between(1, 3))
    if (rows.nonEmpty) { val _ = folder.add(rows) }
  }

  private def partitions: Seq[LogPartition] =
    cluster.topics.toSeq.flatMap { case (name, topic) => topic.partitions.indices.map(LogPartition(name, _)) }

  private def flaw(partition: LogPartition): Unit = {
    val log = cluster.topic(partition.topic).partitions(partition.partition)
    val at  = position(partition)
    if (skipping && life.chance.oneIn(2) && at + 1 < log.stableEnd) {
      left ++= log.at(at).flatMap(_.id)
      next(partition) = at + 1
    } else if (repeating && life.chance.oneIn(2) && at > log.earliest) next(partition) = at - 1
  }

  private def take(partition: LogPartition, most: Int): Seq[ArchivedRow] = {
    val log  = cluster.topic(partition.topic).partitions(partition.partition)
    val from = position(partition)
    // What retention took before it was archived is a hole that no archiver can fill.
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
