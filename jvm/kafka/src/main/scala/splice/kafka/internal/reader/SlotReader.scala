// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.reader

import java.time.Duration
import java.util.concurrent.atomic.AtomicBoolean
import java.util.concurrent.locks.ReentrantLock
import java.util.{List => JList}

import scala.annotation.tailrec
import scala.collection.mutable
import scala.jdk.CollectionConverters._
import scala.util.Try

import org.apache.kafka.clients.consumer.{ConsumerRecord, OffsetOutOfRangeException}
import org.apache.kafka.common.errors.{InterruptException, WakeupException}
import org.apache.kafka.common.{KafkaException, TopicPartition}
import org.apache.spark.sql.connector.metric.CustomTaskMetric

import splice.kafka.internal.consumer.SlotConsumer.Leftover
import splice.kafka.internal.consumer.{Chunk, OpenRange, RecordWindow, SlotConsumer}
import splice.kafka.internal.metrics.TaskReads
import splice.kafka.internal.pool.{FoundChanges, LogChanges, ReaderSettings}
import splice.kafka.internal.split.KafkaSplitRange
import splice.source.Poll
import splice.source.runtime.Report

/** Reads all ranges of one slot at the same time with one consumer. Records arrive in chunks, in the order of the
  * brokers' responses.
  *
  * A range ends when the consumer's position reaches the end of the range. The last record is not sufficient, because
  * the last offsets may belong to transaction markers or compacted records. One thread calls [[poll]]. Another thread
  * may call [[close]] during a poll. Records are counted when they are returned.
  *
  * If a topic was recreated after the batch was planned, the reader detects the new topic before the reader returns its
  * records.
  *
  * @param found
  *   changes of logs that readers of this JVM have found
  * @param nanos
  *   the time in nanoseconds, as of `System.nanoTime`
  * @param giveBack
  *   called once, unless reading failed or was interrupted; then the consumer is closed. The next task seeks each
  *   partition whose range this reader has not read to the end
  */
final private[splice] class SlotReader(
    ranges: IndexedSeq[KafkaSplitRange],
    consumer: SlotConsumer,
    settings: ReaderSettings,
    reused: Boolean,
    found: FoundChanges = new FoundChanges,
    nanos: () => Long = () => System.nanoTime()
)(giveBack: => Unit)
    extends AutoCloseable {

  private val all     = ranges.map(new OpenRange(_, settings.isTimed))
  private val open    = mutable.LinkedHashMap.from(all.map(range => range.partition -> range))
  private val changes = new LogChanges(open, KafkaSplitRange.topicIds(ranges), consumer, settings, found, nanos)
  private val chunks  = mutable.ArrayDeque.empty[Chunk]
  private val lock    = new ReentrantLock

  private var current = Option.empty[Chunk]
  private var others  = Option.empty[List[KafkaSplitRange]]

  /** The records of the last [[poll]]; valid until the next call. */
  val window: RecordWindow = consumer.window

  private var begun               = false
  private val closed              = new AtomicBoolean
  @volatile private var exhausted = false
  @volatile private var failed    = false

  // The reading thread. If another thread closes the reader, the state of the consumer is undefined.
  @volatile private var owner = Option.empty[Thread]

  // Positions that the log does not contain. The error is thrown after all records before these positions were
  // returned.
  private var invalid = Option.empty[OffsetOutOfRangeException]

  // The ranges that were checked after the last poll, with their positions.
  private var reached = Seq.empty[(OpenRange, Long)]

  private val step = Duration.ofNanos(math.min(SlotReader.Step.toNanos, settings.pollTimeout.toNanos / 4))

  private val counts    = new ReadCounts(reused)
  private var idleNanos = 0L

  val metrics: Array[CustomTaskMetric] = counts.metrics

  /** Moves to the next records of a range. Each wait of the consumer for a response may take `patience`.
    *
    * The method holds a lock, because [[close]] may use the consumer at the same time. The method converts the
    * interrupt of the consumer to Java's interrupt.
    *
    * The loop and all exception handlers are in this one method, so that the method exceeds the limit of the JIT
    * compiler for inlining (`FreqInlineSize`). If the compiler inlined a poll into the loop of Spark's generated code,
    * the columns that each row reads would not be inlined.
    */
  def poll(patience: Duration): Poll = {
    count()
    lock.lockInterruptibly()
    try {
      if (closed.get) throw new InterruptedException("the reader was closed during a read")
      var result = Option.empty[Poll]
      while (result.isEmpty) {
        if (current.nonEmpty && window.hasMore && show()) result = SlotReader.Found
        else {
          others = None
          settle()
          if (chunks.nonEmpty) take(chunks.removeHead())
          else if (open.isEmpty) result = Some(ended())
          else if (!fill(patience)) result = SlotReader.Pending
        }
      }
      result.get
    } catch {
      case e @ (_: InterruptException | _: WakeupException) =>
        failed = true
        Thread.interrupted()
        val interrupt = new InterruptedException("interrupted while reading Kafka")
        interrupt.initCause(e)
        throw interrupt
      case e: KafkaException =>
        failed = true
        throw settings.client.unread(s"records of ${open.keysIterator.mkString(", ")}", e)
      case e: Throwable =>
        failed = true
        throw e
    } finally lock.unlock()
  }

  private def ended(): Poll = {
    if (!exhausted) {
      exhausted = true
      window.release()
      counts.fetchMillis = consumer.fetchMillis()
    }
    Poll.Ended
  }

  /** The report for the driver: the records that were read, the skipped offsets, and whether the reader was reused. The
    * duration of fetches is available only at the end.
    */
  def report: Seq[Report] =
    Seq(Report(settings.reportKey, counts.of(all, changes.skipped)(end).copy(unread = changes.unread)))

  /** The report of the skipped offsets; none without a skipped offset. */
  def skips: Seq[Report] =
    if (changes.unread.isEmpty) Nil else Seq(Report(settings.reportKey, TaskReads(unread = changes.unread)))

  /** The report of the backlog of ranges without an end. None after another thread has begun to close the reader. */
  def backlog: Option[Report] = Option.when(lock.tryLock()) {
    try Option.when(!closed.get)(Report(settings.reportKey, ReadCounts.backlog(open.values)(end)))
    finally lock.unlock()
  }.flatten

  // The client throws the error of a validated position once.
  private def end(partition: TopicPartition): Option[Long] =
    try consumer.end(partition)
    catch {
      case e: OffsetOutOfRangeException =>
        invalid = invalid.orElse(Some(e))
        None
    }

  /** The ranges that were not returned. The range of the records in [[window]] comes first. The list of the other
    * ranges is the same object for all records of a chunk.
    *
    * @param shown
    *   the number of returned records of [[window]]; at least one after a poll that found records
    */
  def unread(shown: Int): List[KafkaSplitRange] = {
    if (others.isEmpty) others = Some(all.iterator.filterNot(isCurrent).flatMap(left(_)).toList)
    val rest = others.getOrElse(Nil)
    current.map(_.range).flatMap { range =>
      if (shown < window.rows || window.hasMore) range.left(window.offset(shown - 1) + 1) else left(range)
    }.fold(rest)(_ :: rest)
  }

  def isStale: Boolean                                        = changes.isStale
  private def left(range: OpenRange): Option[KafkaSplitRange] =
    if (range.isOpen || open.contains(range.partition))
      range.left(chunks.find(_.range eq range).fold(range.position)(_.from))
    else None

  private def isCurrent(range: OpenRange): Boolean = current.exists(_.range eq range)

  /** Counts the records that were returned. */
  private def count(): Unit = if (window.rows > 0) current.foreach(_.range.count(window))

  /** Updates the range of a chunk whose records were returned. */
  private def settle(): Unit = {
    current.foreach { case Chunk(range, _, _) =>
      val left = window.left(consumer.room)
      if (left.nonEmpty) finish(range, left)
      else {
        val at = position(range)
        if (at >= range.until) finish(range, None)
        else range.holes.foreach(holes => leap(range, at, math.min(holes.next(at), range.until)))
      }
    }
    current = None
    window.clear()
  }

  /** Seeks past offsets that the history contains. A seek discards prefetched records, so a short distance is read. */
  private def leap(range: OpenRange, at: Long, to: Long): Unit = if (to - at > SlotReader.LeastLeap) {
    consumer.skipTo(range.partition, to)
    range.position = to
    if (to == range.until) finish(range, None)
  }

  private def take(chunk: Chunk): Unit = {
    window.open(chunk)
    current = Some(chunk)
  }

  private def show(): Boolean = {
    val hasRows = window.next()
    counts.rows += window.rows
    counts.bytes += window.bytes
    hasRows
  }

  private def finish(range: OpenRange, left: Option[Leftover]): Unit = {
    open -= range.partition
    consumer.finish(range.partition, range.until, left)
  }

  private def position(range: OpenRange): Long =
    try consumer.position(range.partition).getOrElse(range.position)
    catch {
      case e: OffsetOutOfRangeException =>
        invalid = invalid.orElse(Some(e))
        range.position
    }

  /** The position after records that the consumer has returned. While the client validates its position, only the
    * records show this position.
    */
  private def after(range: OpenRange, records: JList[ConsumerRecord[Array[Byte], Array[Byte]]]): Long =
    if (records.isEmpty) position(range) else math.max(position(range), records.get(records.size - 1).offset + 1)

  /** Gets records or ends ranges. Returns false if the time has passed without either. */
  private def fill(patience: Duration): Boolean = {
    if (owner.isEmpty) owner = Some(Thread.currentThread())
    if (begun) requests(patience)
    else {
      begun = true
      val left = consumer.begin(ranges)
      left.foreach { case (partition, leftover) =>
        chunks += Chunk(open(partition), leftover.records, open(partition).from)
      }
      // A reused consumer may have passed a whole range without a record.
      val moved = open.valuesIterator.filter { range =>
        range.moved(left.get(range.partition).fold(position(range))(leftover => after(range, leftover.records)))
      }
      finishPassed(moved.toSeq, left.contains)
      changes.leaveKnown(left.keysIterator.map(_.topic).toSet)
      changes.reportKnown()
      true
    }
  }

  @tailrec private def requests(patience: Duration): Boolean = {
    val start = nanos()
    request(if (hasUnchecked) Duration.ZERO else if (patience.compareTo(step) < 0) patience else step)
    if ((patience eq Poll.Forever) || chunks.nonEmpty || open.isEmpty) true
    else {
      val left = patience.minusNanos(nanos() - start)
      if (left.isNegative || left.isZero) false else requests(left)
    }
  }

  /** True if all ranges of the last poll have ended. The same poll may have passed the ends of other ranges without a
    * record, and a wait for their records would have no result.
    */
  private def hasUnchecked: Boolean =
    reached.nonEmpty && !reached.exists { case (range, _) => open.contains(range.partition) }

  private def request(patience: Duration): Unit = {
    val start = nanos()
    try {
      invalid.foreach(throw _)
      val polled = consumer.poll(patience)
      // If a range ends without a record, the next poll that returns no record detects the end. A check of each range
      // after each poll would take more time.
      val checked = if (polled.isEmpty) open.valuesIterator else polled.partitions.asScala.iterator.flatMap(open.get)
      reached = checked.map(range => range -> after(range, polled.records(range.partition))).toSeq
      val passed = reached.collect { case (range, at) if at != range.position => range }
      val idle   = polled.isEmpty && passed.isEmpty
      if (idle) window.release()
      else {
        def moved(topic: String) =
          polled.partitions.asScala.exists(_.topic == topic) || passed.exists(_.partition.topic == topic)
        // This check precedes the moves of the ranges. Records of another topic that this poll returned are also lost,
        // because the reader does not return these records.
        changes.leaveOthers(moved)
      }
      reached.foreach { case (range, at) => range.moved(at) }
      polled.partitions.forEach { partition =>
        open.get(partition).foreach(range => chunks += Chunk(range, polled.records(partition), range.previous))
      }
      finishPassed(passed.filter(range => open.contains(range.partition)), polled.partitions.contains)
      idleNanos = if (idle) idleNanos + nanos() - start else 0L
    } catch {
      case e: OffsetOutOfRangeException =>
        invalid = None
        changes.outOfRange(e)
    } finally counts.pollNanos += nanos() - start
    if (idleNanos >= step.toNanos && changes.leaveDeleted()) idleNanos = 0L
    // A range without an end may have no new record for any time, so a long wait does not indicate missing records.
    if (idleNanos >= settings.pollTimeout.toNanos && !open.valuesIterator.exists(_.isOpen)) {
      val isChecked = if (settings.waits) changes.stalledSoFar()
      else {
        changes.stalled()
        true
      }
      if (isChecked) idleNanos = 0L
    }
  }

  private def finishPassed(passed: Seq[OpenRange], brought: TopicPartition => Boolean): Unit =
    passed.filter(range => range.position >= range.until && !brought(range.partition)).foreach(finish(_, None))

  override def close(): Unit = if (closed.compareAndSet(false, true)) {
    // The wakeup of a consumer affects its next poll, so no other reader may use the consumer.
    val woken = !lock.tryLock()
    if (woken) {
      consumer.wakeup()
      lock.lock()
    }
    val current  = Thread.currentThread()
    val isIntact = !woken && !changes.spoiled && !failed && !current.isInterrupted
    try {
      window.free()
      if (isIntact && (exhausted || owner.forall(_ eq current))) giveBack else closeConsumer()
    } finally lock.unlock()
  }

  // An interrupted thread must still close its sockets, and remain interrupted.
  private def closeConsumer(): Unit = {
    val interrupted = Thread.interrupted()
    val _           = Try(consumer.close())
    if (interrupted) Thread.currentThread().interrupt()
  }
}

private object SlotReader {

  private val Found   = Option[Poll](Poll.Found)
  private val Pending = Option[Poll](Poll.Pending)

  // About the number of small records in one fetch.
  private val LeastLeap = 10000L

  // The longest wait of a poll without records. The reader then checks whether topics are missing.
  private val Step = Duration.ofSeconds(1)
}
