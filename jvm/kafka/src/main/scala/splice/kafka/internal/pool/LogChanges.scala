// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.pool

import java.time.Duration
import java.util.concurrent.CompletableFuture

import scala.collection.mutable
import scala.jdk.CollectionConverters._
import scala.util.Try

import org.apache.kafka.clients.consumer.{LogTruncationException, OffsetOutOfRangeException}
import org.apache.kafka.common.TopicPartition

import splice.kafka.internal.consumer.{OpenRange, SlotConsumer}
import splice.kafka.internal.errors.{DataLoss, KafkaErrors, MissingRange, SkippedRows}
import splice.kafka.internal.options.TopicRecreated
import splice.kafka.internal.split.KafkaSplitRange
import splice.kafka.internal.topicids.BackgroundRequest
import splice.source.errors.SpliceException

/** Applies the policies of a source to ranges whose log has changed since the batch was planned.
  *
  * The log was deleted, recreated or truncated, or retention removed records. Each method throws an error, or logs a
  * warning and removes the ranges that cannot be read from `open`.
  *
  * @param open
  *   the ranges that have not been read to their ends
  * @param planned
  *   the ids of their topics
  * @param found
  *   the changes that other readers have found
  * @param nanos
  *   the time in nanoseconds, as of `System.nanoTime`
  */
final private[splice] class LogChanges(
    open: mutable.LinkedHashMap[TopicPartition, OpenRange],
    planned: Map[String, String],
    consumer: SlotConsumer,
    settings: ReaderSettings,
    found: FoundChanges,
    nanos: () => Long
) {

  private var topics = planned

  // The time of the first response without the topic.
  private var missing = Map.empty[String, Long]

  // The running request for the ends of logs, with the positions of the ranges before the request.
  private var ends = Option.empty[(Map[TopicPartition, Long], CompletableFuture[Map[TopicPartition, Long]])]

  private val confirmed = math.min(LogChanges.Confirmed.toNanos, settings.pollTimeout.toNanos / 2)

  private val counted = new SkippedRows

  // The thread that closes the reader reads this field.
  @volatile private var hasOther = false

  /** The number of skipped offsets. */
  def skipped: Long = counted.total

  // The thread that reports reads this field.
  @volatile private var left = Vector.empty[KafkaSplitRange]

  /** The offsets of the ranges that the reader has skipped, without an offset that it continues at. Ranges without an
    * end are absent, because no bounded source has such a range.
    */
  def unread: Vector[KafkaSplitRange] = left

  /** True if the client's metadata contains a partition of a planned topic that is not in the plan. */
  def isStale: Boolean = open.keysIterator.map(_.topic).toSet[String].exists { topic =>
    settings.planned.get(topic).exists(_ < consumer.partitions(topic))
  }

  /** True if the consumer has records of another topic than planned. */
  def spoiled: Boolean = hasOther

  /** Abandons ranges of topics that were recreated. Called before the records of a poll are returned.
    *
    * @param polled
    *   true for a topic if the poll returned data of the topic
    */
  def leaveOthers(polled: String => Boolean): Unit = {
    val others = consumer.others(topics, polled)
    if (others.nonEmpty) {
      topics --= others
      val lost = of(others)
      if (lost.nonEmpty) {
        if (settings.recreated == TopicRecreated.Fail) throw KafkaErrors.recreated(lost.map(_.partition.topic).toSet)
        abandon(
          DataLoss(fail = false, counted),
          "the topic was deleted and created again after the batch was planned",
          others
        )
        hasOther = true
      }
    }
  }

  /** Abandons ranges of topics that were deleted, and returns true if any were. A broker with outdated metadata may
    * lack a new topic, so a topic must be missing for some time, unless an earlier reader has found it deleted.
    */
  def leaveDeleted(): Boolean = {
    val read = open.keysIterator.map(_.topic).toSet
    val now  = nanos()
    consumer.missing(topics.filter { case (topic, _) => read(topic) }).exists { absent =>
      missing = absent.iterator.map(topic => topic -> missing.getOrElse(topic, now)).toMap
      leaveMissing(absent.filter(topic => now - missing(topic) >= confirmed || found.isDeleted(planned(topic))))
    }
  }

  /** Abandons ranges of topics that an earlier reader has found deleted, if the topics are still missing. If a topic
    * has ranges in many tasks, only one task waits as in [[leaveDeleted]]. If the request runs on another thread,
    * [[leaveDeleted]] receives its result.
    *
    * @param except
    *   topics with records to return
    */
  def leaveKnown(except: Set[String]): Unit = {
    val known = topics.filter { case (topic, id) => !except(topic) && found.isDeleted(id) }
    if (known.nonEmpty) consumer.missing(known).foreach(leaveMissing)
  }

  private def leaveMissing(absent: Set[String]): Boolean = {
    if (absent.nonEmpty) {
      // The topic is stored before the policy throws an error, so that another attempt of the task does not wait again.
      absent.foreach(topic => found.deleted(planned(topic)))
      abandon(
        DataLoss(settings.failRemoved, counted),
        "the topic was deleted after the batch was planned",
        absent
      )
    }
    absent.nonEmpty
  }

  /** Continues at offsets that the log contains. */
  def outOfRange(e: OffsetOutOfRangeException): Unit = {
    leaveOthers(e.partitions.asScala.map(_.topic).toSet)
    e.offsetOutOfRangePartitions.asScala.foreach { case (partition, position) =>
      open.get(partition).foreach { range =>
        val (first, seen) = consumer.bounds(partition)
        val end           = if (position > seen) confirmedEnd(range, position) else seen
        val next          =
          if (position < first) math.min(first, range.until)
          else if (position > end) { if (range.isOpen) end else range.until }
          else position.toLong
        if (next == position) truncated(range, divergent(e, partition), position)
        else report(
          DataLoss(if (position < first) settings.failOutOfRange else settings.failOnDataLoss, counted),
          s"the log of $partition now begins at offset $first and ends at offset $end",
          // A log that ends before an open range has lost an unknown number of records.
          Seq((range, position.toLong, if (next < position) Long.MaxValue else next))
        )
        if (position < next && !range.isOpen) left ++= range.lost(position, next)
        consumer.skipTo(partition, next)
        range.position = next
        if (next >= range.until) finish(range)
      }
    }
  }

  // The position has other records before it. Kafka does not return the first offset of these records in all cases.
  private def divergent(e: OffsetOutOfRangeException, partition: TopicPartition): Long = e match {
    case cut: LogTruncationException => cut.divergentOffsets.asScala.get(partition).fold(0L)(_.offset)
    case _                           => 0L
  }

  private def truncated(range: OpenRange, first: Long, position: Long): Unit = {
    // The truncation is stored before the policy throws an error, because a new consumer cannot detect the truncation.
    planned.get(range.partition.topic).foreach { id =>
      found.truncated(id, range.partition, FoundChanges.Cut(first, position))
    }
    reportTruncated(range, first, position)
  }

  /** Reports the truncations below the starts of ranges that earlier readers have found. */
  def reportKnown(): Unit = for {
    range <- open.valuesIterator
    id    <- planned.get(range.partition.topic)
    cut   <- found.truncation(id, range.partition, range.from)
  } reportTruncated(range, cut.first, range.from)

  private def reportTruncated(range: OpenRange, first: Long, until: Long): Unit = report(
    DataLoss(settings.failOnDataLoss, counted),
    s"the log of ${range.partition} was truncated, and has other records before offset $until",
    Seq((range, math.min(first, until - 1), until))
  )

  /** The end of a log that ends before a position. */
  private def confirmedEnd(range: OpenRange, position: Long): Long =
    consumer.confirmedEnds(Map(range.partition -> position)).get(range.partition).filter(_ < position)
      .getOrElse(throw unavailable(Seq(range)))

  private def unavailable(ranges: Seq[OpenRange]): SpliceException = KafkaErrors.stalled(
    ranges.map(r => s"${r.partition} at offset ${r.position} of [${r.from}, ${if (r.isOpen) "end" else r.until})"),
    settings.pollTimeout
  )

  /** Ends ranges whose log ends before their end, after the poll timeout has passed without a record.
    *
    * @throws splice.source.errors.SpliceException
    *   when no log ends before the end of its range, so that the wait has another cause
    */
  def stalled(): Unit = {
    leaveOthers(_ => true)
    val ranges = open.valuesIterator.toSeq
    val short  = shorter(consumer.confirmedEnds(offsets(_.until)))
    if (short.isEmpty && ranges.nonEmpty) throw unavailable(ranges)
    leaveShorter(short)
  }

  /** Ends ranges as [[stalled]] does, but does not wait for the ends of logs: another thread requests the ends, and a
    * later call receives them. If no log ends before the end of its range, the ranges remain open.
    *
    * @return
    *   true if this call has received the ends
    */
  def stalledSoFar(): Boolean = {
    val now = offsets(_.position)
    ends match {
      case Some((_, response)) if !response.isDone => false
      // If records have arrived since the request, its ends may be outdated.
      case Some((`now`, response)) =>
        ends = None
        val found = Try(response.join()).getOrElse(Map.empty[TopicPartition, Long])
        if (shorter(found).nonEmpty) {
          leaveOthers(_ => true)
          leaveShorter(shorter(found))
        }
        true
      case _ =>
        val expected = offsets(_.until)
        ends = Some(now -> BackgroundRequest.start(consumer.confirmedEnds(expected)))
        false
    }
  }

  private def offsets(offset: OpenRange => Long): Map[TopicPartition, Long] =
    open.view.mapValues(offset).toMap

  /** The ranges whose log ends before their end, and has no more records of them. Records before the end of the log may
    * belong to an open transaction.
    */
  private def shorter(ends: Map[TopicPartition, Long]): Seq[OpenRange] =
    open.valuesIterator.filter(r => ends.get(r.partition).exists(end => end < r.until && end <= r.position)).toSeq

  private def leaveShorter(short: Seq[OpenRange]): Unit = {
    report(
      DataLoss(settings.failOnDataLoss, counted),
      "the log ends before the end of the planned range",
      short.map(r => (r, r.position, r.until))
    )
    short.foreach { range =>
      left ++= range.lost(range.position, range.until)
      consumer.skipTo(range.partition, range.until)
      finish(range)
    }
  }

  private def of(topics: Set[String]): Seq[OpenRange] =
    open.valuesIterator.filter(range => topics(range.partition.topic)).toSeq

  // The records of an abandoned topic would delay the check of ranges that end without a record.
  private def abandon(policy: DataLoss, reason: String, abandoned: Set[String]): Unit = {
    val lost = of(abandoned)
    report(policy, reason, lost.map(range => (range, range.position, range.until)))
    left ++= lost.filterNot(_.isOpen).flatMap(range => range.lost(range.position, range.until))
    open --= lost.map(_.partition)
    consumer.leave(abandoned)
  }

  private def finish(range: OpenRange): Unit = {
    open -= range.partition
    consumer.finish(range.partition, range.until, None)
  }

  /** Reports lost offsets of ranges, each from an offset (inclusive) to another (exclusive). */
  private def report(policy: DataLoss, reason: String, from: Seq[(OpenRange, Long, Long)]): Unit = {
    val lost = from.flatMap { case (range, begin, end) => range.lost(begin, end) }.map { range =>
      MissingRange(range.partition, range.from, Option.unless(range.isOpen)(range.until))
    }
    if (lost.nonEmpty) policy.report(reason, lost)
  }
}

private object LogChanges {

  // Longer than a broker usually needs to receive new metadata.
  private val Confirmed = Duration.ofSeconds(10)
}
