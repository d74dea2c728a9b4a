// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.testkit.internal.simulation

import scala.collection.mutable

/** One record of a log.
  *
  * @param id
  *   names the row; None for what no reader sees, the marker at the end of a transaction
  * @param transaction
  *   0 = none
  */
final private[splice] case class SimulatedRecord(offset: Long, id: Option[Long], timestamp: Long, transaction: Int)

/** One partition of a topic: records with offsets that rise one by one; old ones go away from the front. */
final private[splice] class SimulatedPartition(cluster: SimulatedCluster) {

  private val records = mutable.ArrayDeque.empty[SimulatedRecord]
  private val written = mutable.ArrayBuffer.empty[SimulatedRecord]
  private var first   = 0L

  /** All that was ever written, also what is gone. */
  def ever: Seq[SimulatedRecord] = written.toSeq

  /** The offset of the oldest record that is still there. */
  def earliest: Long = first

  /** The offset that the next record will have. */
  def end: Long = first + records.size

  /** The end that a reader of committed records may go to: the first record of an open transaction. */
  def stableEnd: Long = records.iterator.find(r => cluster.isOpen(r.transaction)).fold(end)(_.offset)

  def append(id: Option[Long], timestamp: Long, transaction: Int = 0): SimulatedRecord = {
    val record = SimulatedRecord(end, id, timestamp, transaction)
    records += record
    written += record
    record
  }

  /** Removes all before an offset; answers what was removed. */
  def trim(before: Long): Seq[SimulatedRecord] = {
    val gone = records.take(math.max(0L, before - first).toInt).toSeq
    records.dropInPlace(gone.size)
    first += gone.size
    gone
  }

  def at(offset: Long): Option[SimulatedRecord] =
    if (offset < first) None else records.lift((offset - first).toInt)

  def all: Iterator[SimulatedRecord] = records.iterator

  /** The first record at or after a time, as Kafka finds it: by offset order. */
  def firstSince(timestamp: Long): Option[SimulatedRecord] = records.find(_.timestamp >= timestamp)
}

/** A topic; one that is deleted and created again has another id. */
final private[splice] class SimulatedTopic(val name: String, val id: String, cluster: SimulatedCluster) {

  private var all: Vector[SimulatedPartition] = Vector.empty

  def partitions: Vector[SimulatedPartition] = all

  def grow(by: Int): Unit = all ++= Vector.fill(by)(new SimulatedPartition(cluster))
}
