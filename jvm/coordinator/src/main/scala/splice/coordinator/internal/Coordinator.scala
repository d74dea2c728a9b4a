// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.coordinator.internal

import java.io.{IOException, InterruptedIOException}

import scala.annotation.tailrec
import scala.collection.immutable.SortedMap

import org.apache.spark.sql.types.StructType
import org.slf4j.LoggerFactory

import splice.coordinator.internal.sidelog.{MemorySideLog, SourceFolder}
import splice.coordinator.internal.slots.{SlotCount, SlotEntries, SlotLayout, SlotRules}
import splice.source._
import splice.source.errors.SpliceException
import splice.source.runtime.{OpenEnded, ProgressMetric, Report, SessionSettings}

/** Drives any source through one run of one query: the start position, the end of each batch, and the tasks of each
  * batch.
  *
  * One thread at a time calls the methods. This is the query's thread, except for the ends and commits of epochs in
  * continuous mode. The caller logs the returned offset. State that a result depends on is part of this offset, or is
  * durable in the side log before a method returns. The coordinator follows FLIP-27's SourceCoordinator. Flink stores
  * such state in its own checkpoints, and Splice stores it in Spark's offsets.
  *
  * @param rules
  *   the number of tasks that share the splits of a log, and the assignment of splits to tasks
  * @param batchesToRetain
  *   the number of batches before the last one whose offsets Spark keeps. The side log keeps the entries that only
  *   these batches need
  * @param folder
  *   the folder of the source in Spark's checkpoint, if there is a checkpoint
  * @param batches
  *   the offsets of the source in Spark's offset log
  * @param cores
  *   the number of tasks that the available cores can run at a time now. Set if the number of slots follows the cores;
  *   None if `rules` set the number for the whole run
  */
final private[splice] class Coordinator(
    source: Source[_ <: Position],
    context: EnumeratorContext,
    rules: SlotRules,
    batchesToRetain: Int,
    folder: Option[SourceFolder] = None,
    batches: OffsetLog = OffsetLog.Empty,
    cores: Option[() => Int] = None
) extends AutoCloseable {

  /** Coordinator with the given number of slots, balanced. */
  def this(source: Source[_ <: Position], context: EnumeratorContext, slots: Int, batchesToRetain: Int) =
    this(source, context, SlotRules(slots), batchesToRetain)

  private val log                                                    = context.sideLog
  private var created: Option[SplitEnumerator[Position]]             = None
  private lazy val slotLog                                           = new SlotEntries(log, source)
  private val delay                                                  = new MinRowsDelay(context.steady)
  private var frozen                                                 = false
  private var planned: Option[(Position, Position, Seq[SplitRange])] = None
  private val retention                                              = new Retained(source, batches, batchesToRetain)
  private var timed                                                  = Option.empty[RealTimeBatches]
  private var isClosed                                               = false
  private val slots = cores.map(new SlotCount(rules.slots, _, context.steady))

  /** Checks that the checkpoint belongs to this source. A stream calls this method once, before any other method. */
  def open(): Unit = ChainEntries.check(log, source, batches, source.preflight(log, _))

  /** Returns the start position of the query. The first run of a checkpoint computes and stores the position. */
  def initial(): Position = {
    var computed = Option.empty[Position]
    val at       = new InitialEntry(log, source, folder, batches).resolve {
      source.firstStart(pinned.copy(sideLog = new MemorySideLog, run = s"${context.run}-check"))
      val start = enumerator.start(StartPosition.Configured)
      computed = Some(start)
      start
    }
    // Another driver has stored its start position first.
    if (computed.exists(_ != at)) {
      created.foreach(_.close())
      created = None
    }
    at
  }

  /** Reads an offset from the text that Spark has logged. */
  def position(json: String): Position = source.position(json)

  /** Freezes the current ends of the splits as the ends of this run. A further call has no effect. */
  def freeze(): Unit = if (!frozen) {
    created.foreach(_.freeze())
    frozen = true
    val _ = enumerator
  }

  /** Forwards reports of tasks to the enumerator, before the next [[advance]]. */
  def reported(reports: Seq[Report]): Unit = if (reports.nonEmpty) enumerator.reported(reports)

  /** Returns the end of the batch that begins at `from`, or `from` if there is nothing to read.
    *
    * @param everything
    *   true if the run has one batch, which must have all rows up to the ends of [[freeze]], regardless of the source's
    *   own limits
    */
  def advance(from: Position, everything: Boolean): Position = {
    val until = enumerator.advance(from, if (everything) Limits.Everything else limits(from))
    if (until != from) {
      delay.began()
      slots.foreach(_.next())
      slotLog.cover(from, plan(from, until), enumerator, current)
    }
    until
  }

  private def current: SlotRules = slots.fold(rules)(count => rules.copy(slots = count.current))

  private def limits(from: Position): Limits = {
    val limits = enumerator.limits(from)
    if (frozen) limits.withoutMinimum else delay.limits(limits)
  }

  /** Returns the tasks between two positions. The same positions give the same tasks, in every run and on every
    * cluster.
    */
  def tasks(from: Position, until: Position): Seq[TaskRanges] = {
    val all = ranges(from, until)
    // A batch that another source planned has no layout. The first replay stores a layout, so later replays have the
    // same tasks.
    if (slotLog.at(from).isEmpty) slotLog.cover(from, all, enumerator, current)
    slotLog.at(from).getOrElse(SlotLayout(from, current, Map.empty)).tasks(all)
  }

  /** Returns the tasks of one bounded read: all rows from the start to the current ends of the splits. */
  def everything(): Seq[TaskRanges] = {
    source.preflight(log, _ => false)
    freeze()
    val start = initial()
    val until = exhaust(start)
    slotLog.cover(start, plan(start, until), enumerator, current)
    tasks(start, until)
  }

  @tailrec private def exhaust(at: Position): Position = {
    val next = enumerator.advance(at, Limits.Everything)
    if (next == at) at else exhaust(next)
  }

  /** Returns the readers for the tasks of a batch. */
  def readers(columns: StructType, tasks: Seq[TaskRanges]): SplitReaderFactory = {
    val ranges = tasks.flatMap(_.ranges)
    enumerator.begun(ranges)
    enumerator.readers(columns, ranges)
  }

  /** Notes that the tasks of a batch begin. Spark has then logged the batch, except in low-latency modes. */
  private[splice] def begun(tasks: Seq[TaskRanges]): Unit = enumerator.begun(tasks.flatMap(_.ranges))

  /** Returns the ranges between two positions. The last result is cached, because Spark plans a batch more than once.
    */
  def ranges(from: Position, until: Position): Seq[SplitRange] =
    if (from == until) Nil
    else
      planned.collect { case (`from`, `until`, known) => known }.getOrElse {
        enumerator.replay(from, until)
        plan(from, until)
      }

  private def plan(from: Position, until: Position): Seq[SplitRange] = {
    val splits = enumerator.splits(from, until)
    planned = Some((from, until, splits))
    splits
  }

  /** Returns the batches of Spark's real-time mode, or None if the source does not support this mode.
    *
    * @param tasks
    *   returns the number of tasks of this source that the executors can run at the same time now
    */
  def realTime(tasks: () => Int): Option[RealTimeBatches] = enumerator match {
    case _: OpenEnded[_] =>
      timed = Some(new RealTimeBatches(openEnded, enumerator.isMember(_), () => current, tasks))
      timed
    case _ => None
  }

  // Evaluated at each call: `initial` replaces the enumerator if another driver has stored its start position first.
  private def openEnded: OpenEnded[Position] = enumerator match {
    case open: OpenEnded[Position @unchecked] => open
    case _                                    => throw new IllegalStateException(s"$source is not read without an end")
  }

  /** Returns the end of a bounded source that is exhausted at `at`, or None while rows remain. */
  def evidence(at: Position): Option[Evidence] = enumerator.evidence(at)

  /** Records that Spark has committed all rows up to `until`. After the close, the call has no effect: asynchronous
    * progress tracking reports the last commits of a run after Spark has stopped the source.
    */
  def committed(until: Position): Unit = if (!isClosed) {
    enumerator.committed(until)
    try retention.committed(until).foreach { oldest =>
        slotLog.purge(oldest)
        enumerator.retain(oldest)
      }
    catch {
      case e: InterruptedIOException                 => throw e
      case e @ (_: IOException | _: SpliceException) =>
        Coordinator.logger.warn("Side-log entries that no batch needs could not be removed.", e)
    }
  }

  /** Notifies the enumerator that the query stops.
    *
    * @param last
    *   the offset after the last batch that Spark has committed
    */
  def stopped(last: => Option[String]): Unit = created.foreach(_.stopped(last.map(position)))

  /** Returns the figures for the query progress. */
  def figures(at: Position): SortedMap[String, String] =
    enumerator.figures(at) ++ lastSlots.map(number => ProgressMetric.Slots -> number.toString)

  // A batch that ends at a time stores no layout.
  private def lastSlots: Option[Int] = timed.flatMap(_.lastSlots).orElse(slotLog.last.map(_.rules.slots))

  /** Returns further figures for Spark's metric system, as of the last call of [[figures]]. */
  def gauges(at: Position): Iterable[(String, Long)] = enumerator.gauges(at)

  override def close(): Unit = {
    isClosed = true
    created.foreach(_.close())
  }

  private lazy val pinned = context.copy(session = SessionSettings.pinned(log))

  // Created at the first use, so a query that fails early opens no connection.
  private def enumerator: SplitEnumerator[Position] = created.getOrElse {
    val fresh = SplitEnumerator.untyped(source, pinned.copy(start = InitialEntry.stored(log)))
    created = Some(fresh)
    if (frozen) fresh.freeze()
    fresh
  }
}

private object Coordinator {
  private val logger = LoggerFactory.getLogger(classOf[Coordinator])
}
