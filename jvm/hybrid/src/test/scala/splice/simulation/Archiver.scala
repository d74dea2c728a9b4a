// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.simulation

import scala.collection.mutable

import splice.source.LogPartition
import splice.testkit.simulation._

/** Copies a log into files, each record once, in the order of each partition; what no reader may see it passes over. */
final class Archiver(cluster: SimulatedCluster, life: Life) {

  private val held = mutable.Set.empty[LogPartition]
  private val next = mutable.Map.empty[LogPartition, Long]

  /** Where it goes on in a partition. */
  def position(partition: LogPartition): Long = next.getOrElse(partition, 0L)

  /** Whether it has archived any row of a partition. */
  def holds(partition: LogPartition): Boolean = held(partition)

  /** A part of what every partition still has, in some files. */
  def archiveAll(folder: SimulatedFolder): Unit = {
    val rows = partitions.flatMap(p => take(p, life.chance.between(1, 3)))
    rows.grouped(life.chance.between(1, 5)).foreach(folder.add)
  }

  /** The next records of one partition, as one file. */
  def archiveMore(folder: SimulatedFolder): Unit = {
    val rows = take(life.chance.oneOf(partitions), life.chance.between(1, 3))
    if (rows.nonEmpty) { val _ = folder.add(rows) }
  }

  private def partitions: Seq[LogPartition] =
    cluster.topics.toSeq.flatMap { case (name, topic) => topic.partitions.indices.map(LogPartition(name, _)) }

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
    rows
  }
}
