// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.reader

import java.time.Duration

import scala.collection.mutable
import scala.jdk.CollectionConverters._

import org.apache.kafka.clients.consumer.OffsetOutOfRangeException
import org.apache.kafka.common.TopicPartition

import splice.kafka.options.TopicRecreated
import splice.kafka.{DataLoss, KafkaErrors, SkippedRows}

/** Applies the policies of a source to ranges whose log has changed since the batch was planned: it was deleted, created again, truncated,
  * or retention removed records. Each method fails, or warns and takes the ranges that cannot be read out of `open`.
  *
  * @param open
  *   the ranges that are not read to their ends
  * @param planned
  *   the ids of their topics
  * @param deleted
  *   topics that other readers found deleted
  */
final private[reader] class LogChanges(
    open: mutable.LinkedHashMap[TopicPartition, OpenRange],
    planned: Map[String, String],
    consumer: SlotConsumer,
    settings: ReaderSettings,
    deleted: DeletedTopics
) {

  private var topics = planned

  // When the first response without a topic came, by System.nanoTime.
  private var missing = Map.empty[String, Long]

  private val confirmed = math.min(LogChanges.Confirmed.toNanos, settings.pollTimeout.toNanos / 2)

  private val counted = new SkippedRows

  // The thread that closes the reader reads it.
  @volatile private var hasOther = false

  /** The number of offsets that were abandoned. */
  def skipped: Long = counted.total

  /** Whether the client's metadata has a partition of a planned topic that was not planned. */
  def isStale: Boolean = open.keysIterator.map(_.topic).toSet[String].exists { topic =>
    settings.planned.get(topic).exists(_ < consumer.partitions(topic))
  }

  /** Whether the consumer has records of another topic than planned. */
  def spoiled: Boolean = hasOther

  /** Abandons ranges of topics that are others than planned. Called before records of a poll are handed over.
    *
    * @param polled
    *   the topics of which the poll returned something
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
          "a batch is read that was planned before the topic was deleted and created again",
          lost
        )
        hasOther = true
      }
    }
  }

  /** Abandons ranges of topics that were deleted; whether there were any. A broker that is behind may not have a new topic yet, so a topic
    * must be missing for some time.
    */
  def leaveDeleted(): Boolean = {
    val read  = open.keysIterator.map(_.topic).toSet
    val now   = System.nanoTime()
    val found = consumer.missing(topics.filter { case (topic, _) => read(topic) })
    missing = found.iterator.map(topic => topic -> missing.getOrElse(topic, now)).toMap
    leaveMissing(found.filter(topic => now - missing(topic) >= confirmed))
  }

  /** Abandons ranges of topics that an earlier reader found deleted, if they are still missing. So a topic with ranges in many tasks costs the
    * wait of [[leaveDeleted]] once.
    *
    * @param except
    *   topics that have records to hand over
    */
  def leaveKnown(except: Set[String]): Unit = {
    val known = topics.filter { case (topic, id) => !except(topic) && deleted.contains(id) }
    if (known.nonEmpty) { val _ = leaveMissing(consumer.missing(known)) }
  }

  private def leaveMissing(gone: Set[String]): Boolean = {
    if (gone.nonEmpty) {
      // Before the policy, which may fail: another attempt of the task should not wait again.
      gone.foreach(topic => deleted.add(planned(topic)))
      abandon(
        DataLoss(settings.failRemoved, counted),
        "a batch is read that was planned before the topic was deleted",
        of(gone)
      )
      consumer.leave(gone)
    }
    gone.nonEmpty
  }

  /** Continues at records that the log has. */
  def outOfRange(e: OffsetOutOfRangeException): Unit = {
    leaveOthers(e.partitions.asScala.map(_.topic).toSet)
    e.offsetOutOfRangePartitions.asScala.foreach { case (partition, position) =>
      open.get(partition).foreach { range =>
        val (first, end) = consumer.bounds(partition)
        val next         =
          if (position < first) math.min(first, range.until)
          else if (position > end) { if (range.isOpen) end else range.until }
          else position.toLong
        report(
          DataLoss(if (position < first) settings.failOutOfRange else settings.failOnDataLoss, counted),
          s"the log of $partition holds offsets from $first until $end now",
          // A log that ends before an open range lost an unknown number of records.
          Seq((range, position.toLong, if (next < position) Long.MaxValue else math.max(next, position + 1)))
        )
        consumer.skipTo(partition, next)
        range.position = next
        if (next >= range.until) finish(range)
      }
    }
  }

  /** Ends ranges whose log ends before them, after no record came for the poll timeout.
    *
    * @throws splice.source.SpliceException
    *   when no log ends before its range, so that nothing explains the wait
    */
  def stalled(): Unit = {
    leaveOthers(_ => true)
    // To a client that fills holes, the log seems to end at the first open transaction.
    val (short, waiting) = open.valuesIterator.toSeq.map(r => r -> consumer.bounds(r.partition)._2).partition {
      case (r, end) => end < r.until && r.holes.isEmpty
    }
    if (short.isEmpty && open.nonEmpty)
      throw KafkaErrors.stalled(
        waiting.map { case (r, _) => s"${r.partition} at offset ${r.position} of [${r.from}, ${r.until})" },
        settings.pollTimeout
      )
    report(
      DataLoss(settings.failOnDataLoss, counted),
      "the log ends before the end of what was planned",
      short.map { case (r, end) => (r, end, r.until) }
    )
    short.foreach { case (range, _) =>
      consumer.skipTo(range.partition, range.until)
      finish(range)
    }
  }

  private def of(topics: Set[String]): Seq[OpenRange] =
    open.valuesIterator.filter(range => topics(range.partition.topic)).toSeq

  private def abandon(policy: DataLoss, what: String, lost: Seq[OpenRange]): Unit = {
    report(policy, what, lost.map(range => (range, range.position, range.until)))
    open --= lost.map(_.partition)
  }

  private def finish(range: OpenRange): Unit = {
    open -= range.partition
    consumer.finish(range.partition, range.until, None)
  }

  /** Reports what of ranges is lost, from an offset (included) until another (excluded). */
  private def report(policy: DataLoss, what: String, from: Seq[(OpenRange, Long, Long)]): Unit = {
    val lost = from.flatMap { case (range, begin, end) => range.lost(begin, end) }
    if (lost.nonEmpty) policy.report(what, lost)
  }
}

private object LogChanges {

  // Longer than a broker usually needs for new metadata.
  private val Confirmed = Duration.ofSeconds(10)
}

/** Ids of topics that readers of one JVM found deleted. No topic gets the id of another one. Used by any thread. */
final private[splice] class DeletedTopics {

  private val ids = new mutable.LinkedHashSet[String]

  def contains(id: String): Boolean = synchronized(ids(id))

  def add(id: String): Unit = synchronized {
    if (ids.add(id) && ids.size > DeletedTopics.Remembered) ids.headOption.foreach(ids.remove)
  }
}

private object DeletedTopics {
  private val Remembered = 1000
}
