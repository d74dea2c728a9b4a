// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.reader

import java.util.concurrent.TimeUnit
import java.util.concurrent.locks.ReentrantLock
import java.util.{List => JList}

import scala.annotation.tailrec
import scala.collection.mutable
import scala.jdk.CollectionConverters._
import scala.util.Try

import org.apache.kafka.clients.consumer.{ConsumerRecord, OffsetOutOfRangeException}
import org.apache.kafka.common.KafkaException
import org.apache.kafka.common.TopicPartition
import org.apache.kafka.common.errors.{InterruptException, WakeupException}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.metric.CustomTaskMetric
import org.apache.spark.sql.types.StructType
import org.apache.spark.unsafe.types.UTF8String

import splice.kafka.lag.{PartitionRead, ReadReports, TaskReads}
import splice.kafka.options.TopicRecreated
import splice.kafka.reader.SlotConsumer.Leftover
import splice.kafka.split.{KafkaSplitRange, TopicPartitions}
import splice.kafka.{DataLoss, KafkaErrors, MissingRange}
import splice.source.SplitReader

/** Reads the ranges of one slot over one consumer, all at once: rows come in the order in which brokers answer.
  *
  * A range ends when the consumer's position reaches its end, not with its last record: the last offsets may be those of
  * transaction markers, or of records that compaction took away. [[next]] is called by one thread; [[close]] may come from
  * another one while a poll goes on.
  *
  * A topic that was deleted and created again since the batch was planned is found out before any record of the new one is handed over.
  *
  * @param giveBack
  *   called once when all ranges were read to their ends; otherwise the consumer is closed
  */
final private[splice] class KafkaSplitReader(
    ranges: IndexedSeq[KafkaSplitRange],
    columns: StructType,
    consumer: SlotConsumer,
    settings: ReaderSettings,
    reused: Boolean
)(giveBack: => Unit)
    extends SplitReader[InternalRow] {

  private val loss   = DataLoss(settings.failOnDataLoss)
  private val passed = DataLoss(settings.failOutOfRange)
  private val row    = new RecordRow(RecordField.of(columns))
  private val open   = mutable.LinkedHashMap.from(ranges.map(r => TopicPartitions.of(r.partition) -> new OpenRange(r)))
  private val chunks = mutable.ArrayDeque.empty[Chunk]

  private var topics = KafkaSplitRange.topicIds(ranges)
  private val lock   = new ReentrantLock

  // The records being handed over, and what is known of them; the first poll or leftover replaces these.
  private var records: JList[ConsumerRecord[Array[Byte], Array[Byte]]] = java.util.List.of()
  private var size                                                     = 0
  private var index                                                    = 0
  private var until                                                    = 0L
  private var topic: UTF8String                                        = UTF8String.EMPTY_UTF8
  private var current: Option[OpenRange]                               = None

  private var begun               = false
  @volatile private var closed    = false
  @volatile private var exhausted = false

  // The consumer holds what is of another topic, or nobody knows of which.
  @volatile private var spoiled = false

  private var rows      = 0L
  private var bytes     = 0L
  private var pollNanos = 0L

  // What was read when the list being handed over was begun.
  private var rowsBefore  = 0L
  private var bytesBefore = 0L
  private var fetchMillis = 0L
  private var idleNanos   = 0L

  override val metrics: Array[CustomTaskMetric] = Array(
    new KafkaMetrics.Live(KafkaMetrics.Records, () => rows),
    new KafkaMetrics.Live(KafkaMetrics.Bytes, () => bytes),
    new KafkaMetrics.Live(KafkaMetrics.PollMillis, () => TimeUnit.NANOSECONDS.toMillis(pollNanos)),
    new KafkaMetrics.Live(KafkaMetrics.FetchMillis, () => fetchMillis),
    new KafkaMetrics.Live(KafkaMetrics.PoolHits, () => if (reused) 1L else 0L)
  )

  override def get(): InternalRow = row

  override def next(): Boolean = (index < size && show()) || advance()

  /** Hands over the record at `index`, unless it lies beyond the range. */
  private def show(): Boolean = {
    val record = records.get(index)
    val within = record.offset < until
    if (within) {
      row.show(record, topic)
      index += 1
      rows += 1
      bytes += math.max(record.serializedKeySize, 0) + math.max(record.serializedValueSize, 0)
    }
    within
  }

  /** Goes on to the next record of another list, polling as long as ranges are open. */
  @tailrec private def advance(): Boolean = {
    settle()
    if (chunks.nonEmpty) {
      take(chunks.removeHead())
      if (show()) true else advance()
    } else if (open.nonEmpty) {
      fill()
      advance()
    } else {
      exhausted = true
      fetchMillis = consumer.fetchMillis()
      settings.reports.foreach(_.add(told))
      false
    }
  }

  /** What the list that was handed over means for its range. */
  private def settle(): Unit = {
    current.foreach { range =>
      settings.reports.foreach(tell(_, range))
      if (index < size) finish(range, Some(Leftover(records, index)))
      else if (consumerAt(range) >= range.until) finish(range, None)
    }
    current = None
  }

  private def tell(reports: ReadReports, range: OpenRange): Unit = if (rows > rowsBefore) {
    val last = records.get(index - 1).timestamp
    val read = PartitionRead(rows - rowsBefore, bytes - bytesBefore, last)
    reports.add(TaskReads(Map(TopicPartitions.toLog(range.partition) -> read)))
  }

  private def told: TaskReads = {
    val own = if (reused) 1L else 0L
    TaskReads(pollNanos = pollNanos, fetchMillis = fetchMillis, opened = 1L - own, reused = own)
  }

  private def take(chunk: Chunk): Unit = {
    records = chunk.records
    size = chunk.records.size
    index = chunk.index
    until = chunk.range.until
    topic = chunk.range.topic
    rowsBefore = rows
    bytesBefore = bytes
    current = Some(chunk.range)
  }

  private def finish(range: OpenRange, left: Option[Leftover]): Unit = {
    open -= range.partition
    guarded(consumer.finish(range.partition, range.until, left))
  }

  private def consumerAt(range: OpenRange): Long = guarded(consumer.position(range.partition))

  private def fill(): Unit = guarded {
    if (begun) poll()
    else {
      begun = true
      val left = consumer.begin(ranges)
      left.foreach { case (partition, own) => chunks += Chunk(open(partition), own.records, own.index) }
      // A reused consumer may have passed over a whole range that holds no record.
      finishPassed(open.valuesIterator.filter(_.moved(p => consumer.position(p))).toSeq, left.contains)
    }
  }

  private def poll(): Unit = {
    val start = System.nanoTime()
    try {
      val polled = consumer.poll(settings.pollTimeout)
      leaveOthers()
      polled.partitions.forEach { partition =>
        open.get(partition).foreach(range => chunks += Chunk(range, polled.records(partition), 0))
      }
      val passed = open.valuesIterator.filter(_.moved(p => consumer.position(p))).toSeq
      finishPassed(passed, polled.partitions.contains)
      idleNanos = if (polled.isEmpty && passed.isEmpty) idleNanos + System.nanoTime() - start else 0L
    } catch {
      case e: OffsetOutOfRangeException =>
        leaveOthers()
        outOfRange(e)
    } finally pollNanos += System.nanoTime() - start
    if (idleNanos >= settings.pollTimeout.toNanos) stalled()
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
        (if (position < first) passed else loss).report(
          s"the log of $partition holds offsets from $first until $end now",
          Seq(MissingRange(TopicPartitions.toLog(partition), position, Some(math.max(goesOn, position + 1))))
        )
        consumer.skipTo(partition, goesOn)
        if (goesOn >= range.until) finish(range, None)
      }
    }

  private def stalled(): Unit = {
    val (short, waiting) = open.valuesIterator.toSeq.map(r => r -> consumer.bounds(r.partition)._2).partition {
      case (r, end) => end < r.until
    }
    if (short.isEmpty)
      throw KafkaErrors.stalled(
        waiting.map { case (r, _) => s"${r.partition} at offset ${r.position} of [${r.from}, ${r.until})" },
        settings.pollTimeout
      )
    loss.report(
      "the log ends before the end of what was planned",
      short.map { case (r, end) => MissingRange(TopicPartitions.toLog(r.partition), end, Some(r.until)) }
    )
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
