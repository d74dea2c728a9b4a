// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.cluster

import java.time.Duration

import scala.annotation.tailrec
import scala.jdk.CollectionConverters._

import org.apache.kafka.clients.consumer.{Consumer, ConsumerRecord, ConsumerRecords, OffsetOutOfRangeException}
import org.apache.kafka.common.TopicPartition
import org.apache.kafka.common.errors.TimeoutException

import splice.kafka.internal.split.TopicPartitions
import splice.source.LogPartition

/** Reads the first record of each range of offsets, if the range has a record. */
private[splice] object FirstRecords {

  type Record = ConsumerRecord[Array[Byte], Array[Byte]]

  private val Poll = Duration.ofMillis(100)

  /** @param patience
    *   the time without progress after which the call fails with a `TimeoutException`
    * @param tolerant
    *   true if a range that is no longer in the log has no record; otherwise the call fails with an
    *   `OffsetOutOfRangeException`
    */
  def apply(
      consumer: Consumer[Array[Byte], Array[Byte]],
      ranges: Map[LogPartition, (Long, Long)],
      patience: Duration,
      tolerant: Boolean
  ): Map[LogPartition, Record] = {
    val until = ranges.map { case (p, range) => TopicPartitions.of(p) -> range._2 }
    consumer.assign(until.keySet.asJava)
    ranges.foreach { case (p, (from, _)) => consumer.seek(TopicPartitions.of(p), from) }

    @tailrec def read(
        open: Map[TopicPartition, Long],
        result: Map[TopicPartition, Record],
        since: Long
    ): Map[TopicPartition, Record] =
      if (open.isEmpty) result
      else {
        val (records, removed) = poll(consumer, tolerant)
        val first              = open.keySet.flatMap(p => records.records(p).asScala.headOption.map(p -> _)).toMap
        val next               = (open.keySet -- removed).map(p => p -> consumer.position(p)).toMap
        val left               = next.collect { case (p, at) if !first.contains(p) && at < until(p) => p -> at }
        val moved              = left != open
        if (!moved && System.nanoTime() - since > patience.toNanos)
          throw new TimeoutException(s"no response for offsets of ${left.keys.mkString(", ")}")
        consumer.pause((open.keySet -- left.keySet).asJava)
        read(
          left,
          result ++ first.filter { case (p, record) => record.offset < until(p) },
          if (moved) System.nanoTime() else since
        )
      }

    val starts = ranges.map { case (p, (from, _)) => TopicPartitions.of(p) -> from }
    read(starts, Map.empty, System.nanoTime()).map { case (p, record) => TopicPartitions.toLog(p) -> record }
  }

  /** The next records, and the partitions whose positions are no longer in the log. */
  private def poll(
      consumer: Consumer[Array[Byte], Array[Byte]],
      tolerant: Boolean
  ): (ConsumerRecords[Array[Byte], Array[Byte]], collection.Set[TopicPartition]) =
    try consumer.poll(Poll) -> Set.empty[TopicPartition]
    catch {
      case e: OffsetOutOfRangeException if tolerant =>
        ConsumerRecords.empty[Array[Byte], Array[Byte]]() -> e.offsetOutOfRangePartitions.keySet.asScala
    }
}
