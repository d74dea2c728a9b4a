// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.testkit.internal.simulation

import scala.collection.mutable

/** Record of a log.
  *
  * @param id
  *   id of the row; None for the marker at the end of a transaction, which no reader returns
  * @param transaction
  *   0 = none
  */
final private[splice] case class SimulatedRecord(offset: Long, id: Option[Long], timestamp: Long, transaction: Int)

/** Partition of a topic. Records have consecutive offsets, and the oldest records can be removed. */
final private[splice] class SimulatedPartition(cluster: SimulatedCluster) {

  private val records = mutable.ArrayDeque.empty[SimulatedRecord]
  private val written = mutable.ArrayBuffer.empty[SimulatedRecord]
  private var first   = 0L

  /** All records that were ever written, including removed records. */
  def ever: Seq[SimulatedRecord] = written.toSeq

  /** Offset of the oldest available record. */
  def earliest: Long = first

  /** Offset of the next record. */
  def end: Long = first + records.size

  /** End for readers of committed records: the first record of an open transaction. */
  def stableEnd: Long = records.iterator.find(r => cluster.isOpen(r.transaction)).fold(end)(_.offset)

  def append(id: Option[Long], timestamp: Long, transaction: Int = 0): SimulatedRecord = {
    val record = SimulatedRecord(end, id, timestamp, transaction)
    records += record
    written += record
    record
  }

  /** Removes all records before an offset. Returns the removed records. */
  def trim(before: Long): Seq[SimulatedRecord] = {
    val removed = records.take(math.max(0L, before - first).toInt).toSeq
    records.dropInPlace(removed.size)
    first += removed.size
    removed
  }

  def at(offset: Long): Option[SimulatedRecord] =
    if (offset < first) None else records.lift((offset - first).toInt)

  def all: Iterator[SimulatedRecord] = records.iterator

  /** First record at or after a time in offset order, as in Kafka. */
  def firstSince(timestamp: Long): Option[SimulatedRecord] = records.find(_.timestamp >= timestamp)
}

/** Topic. A recreated topic has another id. */
final private[splice] class SimulatedTopic(val name: String, val id: String, cluster: SimulatedCluster) {

  private var all: Vector[SimulatedPartition] = Vector.empty

  def partitions: Vector[SimulatedPartition] = all

  def grow(by: Int): Unit = all ++= Vector.fill(by)(new SimulatedPartition(cluster))
}
