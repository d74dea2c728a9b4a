// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.reader

import java.time.Duration
import java.util.concurrent.TimeUnit
import java.util.concurrent.locks.ReentrantLock

import scala.annotation.tailrec
import scala.collection.mutable
import scala.jdk.CollectionConverters._
import scala.util.Try

import org.apache.kafka.clients.consumer.{ConsumerRecord, OffsetOutOfRangeException}
import org.apache.kafka.common.errors.{InterruptException, WakeupException}
import org.apache.kafka.common.{KafkaException, TopicPartition}
import org.apache.spark.sql.connector.metric.CustomTaskMetric
import org.apache.spark.unsafe.types.UTF8String

import splice.kafka.lag.{PartitionRead, ReadReports, TaskReads}
import splice.kafka.options.TopicRecreated
import splice.kafka.reader.SlotConsumer.Leftover
import splice.kafka.split.{KafkaSplitRange, TopicPartitions}
import splice.kafka.{DataLoss, KafkaErrors, MissingRange}
import splice.source.Poll

/** Reads the ranges of one slot over one consumer, all at once: records come list by list, in the order in which brokers answer.
  *
  * A range ends when the consumer's position reaches its end, not with its last record: the last offsets may be those of
  * transaction markers, or of records that compaction took away. One thread calls [[poll]]; [[close]] may come from
  * another one while a poll goes on. What is handed over is counted when its list is begun.
  *
  * A topic that was deleted and created again since the batch was planned is found out before any record of the new one is handed over.
  *
  * @param giveBack
  *   called once when all ranges were read to their ends; otherwise the consumer is closed
  */
final private[splice] class SlotReader(
    ranges: IndexedSeq[KafkaSplitRange],
    consumer: SlotConsumer,
    settings: ReaderSettings,
    reused: Boolean
)(giveBack: => Unit)
    extends AutoCloseable {

  private val loss   = DataLoss(settings.failOnDataLoss)
  private val passed = DataLoss(settings.failOutOfRange)
  private val open   = mutable.LinkedHashMap.from(ranges.map(r => TopicPartitions.of(r.partition) -> new OpenRange(r)))
  private val chunks = mutable.ArrayDeque.empty[Chunk]

  private var topics = KafkaSplitRange.topicIds(ranges)
  private val lock   = new ReentrantLock

  private val window  = new RecordWindow
  private var current = Option.empty[Chunk]

  private var begun               = false
  @volatile private var closed    = false
  @volatile private var exhausted = false

  // The consumer holds what is of another topic, or nobody knows of which.
  @volatile private var spoiled = false

  private var rows      = 0L
  private var bytes     = 0L
  private var pollNanos = 0L

  private var fetchMillis = 0L
  private var idleNanos   = 0L

  val metrics: Array[CustomTaskMetric] = Array(
    new KafkaMetrics.Live(KafkaMetrics.Records, () => rows),
    new KafkaMetrics.Live(KafkaMetrics.Bytes, () => bytes),
    new KafkaMetrics.Live(KafkaMetrics.PollMillis, () => TimeUnit.NANOSECONDS.toMillis(pollNanos)),
    new KafkaMetrics.Live(KafkaMetrics.FetchMillis, () => fetchMillis),
    new KafkaMetrics.Live(KafkaMetrics.PoolHits, () => if (reused) 1L else 0L)
  )

  /** Moves to the next list that holds records of a range. Each response of a broker that the consumer waits for may take `patience`.
    */
  @tailrec def poll(patience: Duration): Poll = {
    settle()
    if (chunks.nonEmpty) {
      take(chunks.removeHead())
      if (window.isEmpty) poll(patience) else Poll.Found
    } else if (open.isEmpty) ended()
    else if (fill(patience)) poll(patience)
    else Poll.Pending
  }

  private def ended(): Poll = {
    if (!exhausted) {
      exhausted = true
      fetchMillis = consumer.fetchMillis()
      settings.reports.foreach(_.add(told))
    }
    Poll.Ended
  }

  /** The records that [[poll]] found, between [[from]] and [[until]]; valid until the next call. */
  def records: Array[ConsumerRecord[Array[Byte], Array[Byte]]] = window.records

  /** The index of the first of [[records]]. */
  def from: Int = window.from

  /** One past the index of the last of [[records]]. */
  def until: Int = window.until

  /** The topic of [[records]]. */
  def topic: UTF8String = current.fold(UTF8String.EMPTY_UTF8)(_.range.topic)

  /** What the list that was handed over means for its range. */
  private def settle(): Unit = {
    current.foreach { case Chunk(range, own, _) =>
      if (!window.isEmpty) settings.reports.foreach(tell(_, range))
      if (window.taken < own.size) finish(range, Some(Leftover(own, window.taken)))
      else {
        val at = consumerAt(range)
        if (at >= range.until) finish(range, None)
        else range.holes.foreach(holes => leap(range, at, math.min(holes.next(at), range.until)))
      }
    }
    current = None
  }

  /** Seeks over offsets that the history has. What was fetched ahead is lost, so a short distance is read. */
  private def leap(range: OpenRange, at: Long, to: Long): Unit = if (to - at > SlotReader.LeastLeap) {
    guarded(consumer.skipTo(range.partition, to))
    if (to == range.until) finish(range, None)
  }

  private def tell(reports: ReadReports, range: OpenRange): Unit = {
    val read = PartitionRead(window.rows, window.bytes, window.lastMillis)
    val own  = Map(TopicPartitions.toLog(range.partition) -> read)
    reports.add(TaskReads(own, filled = if (range.holes.isEmpty) 0L else window.rows))
  }

  private def told: TaskReads = {
    val own = if (reused) 1L else 0L
    TaskReads(pollNanos = pollNanos, fetchMillis = fetchMillis, opened = 1L - own, reused = own)
  }

  private def take(chunk: Chunk): Unit = {
    window.show(chunk)
    current = Some(chunk)
    rows += window.rows
    bytes += window.bytes
  }

  private def finish(range: OpenRange, left: Option[Leftover]): Unit = {
    open -= range.partition
    guarded(consumer.finish(range.partition, range.until, left))
  }

  private def consumerAt(range: OpenRange): Long = guarded(consumer.position(range.partition))

  /** Gets records or ends ranges; false when the time has passed without either. */
  private def fill(patience: Duration): Boolean = guarded {
    if (begun) {
      val forever = patience eq Poll.Forever
      request(if (patience.compareTo(settings.pollTimeout) < 0) patience else settings.pollTimeout)
      forever || chunks.nonEmpty || open.isEmpty
    } else {
      begun = true
      val left = consumer.begin(ranges)
      left.foreach { case (partition, own) => chunks += Chunk(open(partition), own.records, own.index) }
      // A reused consumer may have passed over a whole range that holds no record.
      finishPassed(open.valuesIterator.filter(_.moved(p => consumer.position(p))).toSeq, left.contains)
      true
    }
  }

  private def request(patience: Duration): Unit = {
    val start = System.nanoTime()
    try {
      val polled = consumer.poll(patience)
      val passed = open.valuesIterator.filter(_.moved(p => consumer.position(p))).toSeq
      val idle   = polled.isEmpty && passed.isEmpty
      if (!idle) leaveOthers()
      polled.partitions.forEach { partition =>
        open.get(partition).foreach(range => chunks += Chunk(range, polled.records(partition), 0))
      }
      finishPassed(passed.filter(range => open.contains(range.partition)), polled.partitions.contains)
      idleNanos = if (idle) idleNanos + System.nanoTime() - start else 0L
    } catch {
      case e: OffsetOutOfRangeException =>
        leaveOthers()
        outOfRange(e)
    } finally pollNanos += System.nanoTime() - start
    if (idleNanos >= settings.pollTimeout.toNanos) {
      leaveOthers()
      if (open.nonEmpty) stalled()
    }
  }

  /** Gives up ranges of topics that are others than planned; nothing of the last poll was handed over yet. */
  private def leaveOthers(): Unit = {
    val others = consumer.others(topics)
    if (others.nonEmpty) {
      topics --= others
      val lost = open.valuesIterator.filter(range => others(range.partition.topic)).toSeq
      if (lost.nonEmpty) {
        if (settings.recreated == TopicRecreated.Fail) throw KafkaErrors.recreated(lost.map(_.partition.topic).toSet)
        DataLoss.Warn.report(
          "a batch is read that was planned before the topic was deleted and created again",
          lost.map(r => MissingRange(TopicPartitions.toLog(r.partition), r.position, Some(r.until)))
        )
        open --= lost.map(_.partition)
        spoiled = true
      }
    }
  }

  private def finishPassed(passed: Seq[OpenRange], brought: TopicPartition => Boolean): Unit =
    passed.filter(range => range.position >= range.until && !brought(range.partition)).foreach(finish(_, None))

  private def outOfRange(e: OffsetOutOfRangeException): Unit =
    e.offsetOutOfRangePartitions.asScala.foreach { case (partition, position) =>
      open.get(partition).foreach { range =>
        val (first, end) = consumer.bounds(partition)
        val goesOn       =
          if (position < first) math.min(first, range.until) else if (position > end) range.until else position.toLong
        report(
          if (position < first) passed else loss,
          s"the log of $partition holds offsets from $first until $end now",
          Seq((range, position.toLong, math.max(goesOn, position + 1)))
        )
        consumer.skipTo(partition, goesOn)
        if (goesOn >= range.until) finish(range, None)
      }
    }

  /** Reports what of ranges is lost, from an offset (included) until another (excluded). */
  private def report(policy: DataLoss, what: String, from: Seq[(OpenRange, Long, Long)]): Unit = {
    val lost = from.flatMap { case (range, begin, end) => range.lost(begin, end) }
    if (lost.nonEmpty) policy.report(what, lost)
  }

  private def stalled(): Unit = {
    // To a client that fills holes, the log seems to end at the first open transaction.
    val (short, waiting) = open.valuesIterator.toSeq.map(r => r -> consumer.bounds(r.partition)._2).partition {
      case (r, end) => end < r.until && r.holes.isEmpty
    }
    if (short.isEmpty)
      throw KafkaErrors.stalled(
        waiting.map { case (r, _) => s"${r.partition} at offset ${r.position} of [${r.from}, ${r.until})" },
        settings.pollTimeout
      )
    report(loss, "the log ends before the end of what was planned", short.map { case (r, end) => (r, end, r.until) })
    short.foreach { case (range, _) =>
      consumer.skipTo(range.partition, range.until)
      finish(range, None)
    }
    idleNanos = 0L
  }

  /** Uses the consumer, which [[close]] may want at the same time, and turns its interrupt into Java's. */
  private def guarded[A](use: => A): A = {
    lock.lockInterruptibly()
    try {
      if (closed) throw new InterruptedException("the reader was closed while it was read")
      use
    } catch {
      case e @ (_: InterruptException | _: WakeupException) =>
        Thread.interrupted()
        val interrupt = new InterruptedException("interrupted while reading Kafka")
        interrupt.initCause(e)
        throw interrupt
      case e: KafkaException =>
        throw settings.client.refused(s"records of ${open.keysIterator.mkString(", ")}", e)
    } finally lock.unlock()
  }

  override def close(): Unit = if (!closed) {
    closed = true
    // A consumer that was woken up carries that into its next poll, so nobody else may have it.
    val woken = !lock.tryLock()
    if (woken) {
      consumer.wakeup()
      lock.lock()
    }
    try if (exhausted && !woken && !spoiled) giveBack else closeConsumer()
    finally lock.unlock()
  }

  // An interrupted thread must still be able to close its sockets, and stay interrupted.
  private def closeConsumer(): Unit = {
    val interrupted = Thread.interrupted()
    val _           = Try(consumer.close())
    if (interrupted) Thread.currentThread().interrupt()
  }
}

private object SlotReader {

  // About what a fetch brings of small records.
  private val LeastLeap = 10000L
}
