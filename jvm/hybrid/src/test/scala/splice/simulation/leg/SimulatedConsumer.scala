// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.simulation.leg

import java.time.Duration
import java.util.{Collection => JCollection, Map => JMap}

import scala.collection.mutable
import scala.jdk.CollectionConverters._

import org.apache.kafka.clients.consumer.{
  ConsumerRecord,
  ConsumerRecords,
  MockConsumer,
  OffsetOutOfRangeException,
  OffsetResetStrategy
}
import org.apache.kafka.common.TopicPartition

import splice.testkit.internal.simulation.{SimulatedCluster, SimulatedPartition}
import splice.testkit.simulation.{Life, Violation}

/** Consumer of committed records of a simulated cluster. The consumer prefetches in portions and skips records that
  * readers must not return.
  *
  * @param seeks
  *   false injects a fault: a consumer with a position ignores seeks
  */
final class SimulatedConsumer(cluster: SimulatedCluster, life: Life, seeks: Boolean)
    extends MockConsumer[Array[Byte], Array[Byte]](OffsetResetStrategy.NONE) {

  private val at     = mutable.LinkedHashMap.empty[TopicPartition, Long]
  private val halted = mutable.Set.empty[TopicPartition]
  private var gone   = false
  private var misses = 0

  override def assign(partitions: JCollection[TopicPartition]): Unit = {
    val _ = at.filterInPlace((partition, _) => partitions.contains(partition))
  }

  override def pause(partitions: JCollection[TopicPartition]): Unit = { val _ = halted ++= partitions.asScala }

  override def resume(partitions: JCollection[TopicPartition]): Unit = { val _ = halted --= partitions.asScala }

  override def seek(partition: TopicPartition, offset: Long): Unit =
    if (seeks || !at.contains(partition)) at(partition) = offset

  override def position(partition: TopicPartition): Long = at(partition)

  override def beginningOffsets(partitions: JCollection[TopicPartition]): JMap[TopicPartition, java.lang.Long] =
    partitions.asScala.map(p => p -> Long.box(log(p).fold(0L)(_.earliest))).toMap.asJava

  override def endOffsets(partitions: JCollection[TopicPartition]): JMap[TopicPartition, java.lang.Long] =
    partitions.asScala.map(p => p -> Long.box(log(p).fold(0L)(_.stableEnd))).toMap.asJava

  override def wakeup(): Unit = ()

  override def close(timeout: Duration): Unit = gone = true

  override def poll(timeout: Duration): ConsumerRecords[Array[Byte], Array[Byte]] = {
    require(!gone, "a closed consumer is polled")
    life.move()
    val open = at.keys.filterNot(halted).toSeq
    val lost = open.filter(p => log(p).forall(l => at(p) < l.earliest || at(p) > l.end))
    misses = if (lost.isEmpty) 0 else misses + 1
    if (misses > SimulatedConsumer.Patience)
      throw new Violation(s"a reader stays at ${at.toMap}, but no log has these offsets")
    if (lost.nonEmpty) throw new OffsetOutOfRangeException(lost.map(p => p -> Long.box(at(p))).toMap.asJava)
    val ready = open.filter(p => log(p).exists(at(p) < _.stableEnd))
    // Brokers respond at any time, but a broker with data eventually responds.
    val some = ready.filter(_ => life.chance.oneIn(2))
    new ConsumerRecords((if (some.isEmpty) ready.take(1) else some).flatMap { partition =>
      val records = fetch(partition)
      if (records.isEmpty) None else Some(partition -> records.asJava)
    }.toMap.asJava)
  }

  /** Fetches the next portion. Skipped records only move the position. */
  private def fetch(partition: TopicPartition): Seq[ConsumerRecord[Array[Byte], Array[Byte]]] = {
    val source = log(partition).toSeq
    val found  = for {
      l      <- source
      offset <- at(partition) until math.min(l.stableEnd, at(partition) + life.chance.between(1, 5))
      record <- l.at(offset)
    } yield record
    found.lastOption.foreach(last => at(partition) = last.offset + 1)
    for {
      record <- found
      id     <- record.id
      if !cluster.isAborted(record.transaction)
    } yield new ConsumerRecord(
      partition.topic,
      partition.partition,
      record.offset,
      Array.emptyByteArray,
      id.toString.getBytes
    )
  }

  private def log(partition: TopicPartition): Option[SimulatedPartition] =
    cluster.topics.get(partition.topic).flatMap(_.partitions.lift(partition.partition))
}

private object SimulatedConsumer {

  /** Maximum number of consecutive polls for missing records. */
  val Patience = 100
}
