// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.consumer

import java.util.{List => JList}

import scala.annotation.tailrec

import org.apache.kafka.clients.consumer.ConsumerRecord
import org.apache.kafka.common.TopicPartition
import org.apache.spark.unsafe.types.UTF8String

import splice.kafka.internal.metrics.PartitionRead
import splice.kafka.internal.split.{Holes, KafkaSplitRange, TopicPartitions}

/** A range that has not been read to its end.
  *
  * @param isTimed
  *   true if the least and the greatest time of the records are reported
  */
final private[splice] class OpenRange(range: KafkaSplitRange, isTimed: Boolean = false) {
  val holes: Option[OpenHoles]  = range.holes.map(new OpenHoles(_))
  val partition: TopicPartition = TopicPartitions.of(range.partition)
  val topic: UTF8String         = UTF8String.fromString(range.partition.topic)
  val from: Long                = range.from
  val until: Long               = range.until
  val isOpen: Boolean           = range.isOpen
  var position: Long            = range.from

  /** The position before the last call of [[moved]]. Records from this offset on are to be read. */
  var previous: Long = range.from

  /** Sets the position to the position of the consumer. Returns true if the consumer has moved since the last call. */
  def moved(now: Long): Boolean = {
    previous = position
    position = now
    now != previous
  }

  private var rows   = 0L
  private var bytes  = 0L
  private var millis = Long.MinValue

  private var least    = Long.MaxValue
  private var greatest = Long.MinValue

  /** Counts the records that a window shows. */
  def count(window: RecordWindow): Unit = {
    rows += window.rows
    bytes += window.bytes
    millis = math.max(millis, window.timestamp(window.rows - 1))
    if (isTimed) time(window)
  }

  private def time(window: RecordWindow): Unit = {
    var (first, last) = (least, greatest)
    var i             = 0
    while (i < window.rows) {
      val millis = window.timestamp(i)
      first = math.min(first, millis)
      last = math.max(last, millis)
      i += 1
    }
    least = first
    greatest = last
  }

  /** The range from an offset on; None after its end. */
  def left(offset: Long): Option[KafkaSplitRange] =
    if (isOpen || offset < until) Some(range.copy(from = offset)(range.topicId, range.generation)) else None

  /** The records that were counted; None before the first record. */
  def read: Option[PartitionRead] = Option.when(rows > 0)(PartitionRead(rows, bytes, millis, least, greatest))

  /** The lost offsets if the log no longer contains the offsets from `from` to `until`. Offsets in the history are not
    * lost.
    */
  def lost(from: Long, until: Long): Seq[KafkaSplitRange] =
    holes.fold(Seq(from -> until))(_.unread(from, until)).map { case (begin, end) =>
      KafkaSplitRange(range.partition, begin, end)(range.topicId, range.generation)
    }
}

/** The holes of a range during reading, in the order of the log. */
final private[splice] class OpenHoles(holes: Holes) {

  private var at = 0

  /** True if an offset is to be read. Callers pass offsets to this method and to [[next]] in ascending order. */
  def contains(offset: Long): Boolean = within(offset) == offset && !holes.held.exists(_.contains(offset))

  /** The first offset to read at or after `offset`; `Long.MaxValue` after the last hole. */
  @tailrec def next(offset: Long): Long = {
    val from = within(offset)
    if (from == Long.MaxValue) from
    else {
      val end = holes.ranges(at)._2
      missing(from, end).nextOption() match {
        case Some((first, _)) => first
        case None             => next(end)
      }
    }
  }

  /** The offsets to read from an offset (inclusive) to another (exclusive), independent of earlier calls. */
  def unread(from: Long, until: Long): Seq[(Long, Long)] =
    holes.ranges.map { case (a, b) => math.max(a, from) -> math.min(b, until) }
      .filter { case (a, b) => a < b }
      .flatMap { case (a, b) => missing(a, b) }

  /** The first offset in a hole at or after `offset`. */
  private def within(offset: Long): Long = {
    while (at < holes.ranges.length && holes.ranges(at)._2 <= offset) at += 1
    if (at < holes.ranges.length) math.max(offset, holes.ranges(at)._1) else Long.MaxValue
  }

  /** The offsets of a hole, or of a part of a hole, that the history lacks. */
  private def missing(from: Long, until: Long): Iterator[(Long, Long)] =
    holes.held.fold(Iterator.single(from -> until))(_.within(Seq(from -> until)).holes(from, until))
}

/** Records of one partition.
  *
  * @param from
  *   the first offset to read
  */
final private[splice] case class Chunk(
    range: OpenRange,
    records: JList[ConsumerRecord[Array[Byte], Array[Byte]]],
    from: Long
)
