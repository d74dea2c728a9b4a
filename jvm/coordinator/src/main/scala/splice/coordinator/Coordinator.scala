// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.coordinator

import java.io.{IOException, InterruptedIOException}

import scala.annotation.tailrec
import scala.collection.immutable.SortedMap

import org.apache.spark.sql.types.StructType
import org.slf4j.LoggerFactory

import splice.coordinator.sidelog.{MemorySideLog, SourceFolder}
import splice.coordinator.slots.{SlotCount, SlotEntries, SlotLayout, SlotRules}
import splice.source._
import splice.source.errors.SpliceException
import splice.source.runtime.{OpenEnded, ProgressMetric, Report, SessionSettings}

/** Drives any source through one run of one query: the first position, how far each batch goes, what its tasks are.
  *
  * Called from one thread, the query's. Everything it answers is durable, in the offset that the caller logs or in the side log,
  * before it answers. It follows FLIP-27's SourceCoordinator; what Flink keeps in checkpoints of its own is in Spark's offsets here.
  *
  * @param rules
  *   how many tasks share a log's splits, and how
  * @param batchesToRetain
  *   for how many batches before the last one Spark keeps offsets, and the side log what only they need
  * @param folder
  *   where Spark keeps the source's part of the checkpoint, if there is one
  * @param batches
  *   the source's offsets in Spark's log
  * @param cores
  *   how many tasks the available cores can run at a time now, if the number of slots follows them; None = `rules` set the number for the whole run
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

  /** So many slots, balanced. */
  def this(source: Source[_ <: Position], context: EnumeratorContext, slots: Int, batchesToRetain: Int) =
    this(source, context, SlotRules(slots), batchesToRetain)

  private val log                                                    = context.sideLog
  private var created: Option[SplitEnumerator[Position]]                = None
  private lazy val slotLog                                           = new SlotEntries(log, source)
  private val admission                                              = new Admission(context.steady)
  private var frozen                                                 = false
  private var planned: Option[(Position, Position, Seq[SplitRange])] = None
  private val retention                                              = new Retention(source, batches, batchesToRetain)
  private val slots = cores.map(new SlotCount(rules.slots, _, context.steady))

  /** Checks that the checkpoint is this source's. Called once, before anything else. */
  def open(): Unit = {
    ChainEntries.check(log, source, batches)
    source.preflight(log)
  }

  /** Where the query begins; decided once in the life of the checkpoint. */
  def initial(): Position = {
    var own = Option.empty[Position]
    val at  = new InitialEntry(log, source, folder).resolve {
      source.firstStart(pinned.copy(sideLog = new MemorySideLog, run = s"${context.run}-check"))
      val start = enumerator.start(StartPosition.Configured)
      own = Some(start)
      start
    }
    // Another driver has stored its start first.
    if (own.exists(_ != at)) {
      created.foreach(_.close())
      created = None
    }
    at
  }

  /** Reads an offset that Spark gives back. */
  def position(json: String): Position = source.position(json)

  /** Takes the ends as they are now for the ends of this run. */
  def freeze(): Unit = {
    created.foreach(_.freeze())
    frozen = true
    val _ = enumerator
  }

  /** Reports of tasks that have succeeded; passed on before the next [[advance]]. */
  def reported(reports: Seq[Report]): Unit = if (reports.nonEmpty) enumerator.reported(reports)

  /** How far the batch that begins at `from` goes; `from` itself when nothing is to be read.
    *
    * @param everything
    *   the caller wants all that is available, whatever the source's own limits
    */
  def advance(from: Position, everything: Boolean): Position = {
    val until = enumerator.advance(from, if (everything) Limits.Everything else limits(from))
    if (until != from) {
      admission.began()
      slots.foreach(_.next())
      slotLog.cover(from, plan(from, until), enumerator, current)
    }
    until
  }

  private def current: SlotRules = slots.fold(rules)(count => rules.copy(slots = count.current))

  private def limits(from: Position): Limits = {
    val own = enumerator.limits(from)
    if (frozen) own.withoutMinimum else admission.limits(own)
  }

  /** The tasks between two positions: the same for the same positions, in every run and on every cluster. */
  def tasks(from: Position, until: Position): Seq[TaskRanges] = {
    val all = ranges(from, until)
    // A batch that another source has planned has no layout, and must be the same here from its first replay on.
    if (slotLog.at(from).isEmpty) slotLog.cover(from, all, enumerator, current)
    slotLog.at(from).getOrElse(SlotLayout(from, current, Map.empty)).tasks(all)
  }

  /** The tasks of one bounded read: all there is, from the start to the ends as they are now. */
  def everything(): Seq[TaskRanges] = {
    source.preflight(log)
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

  /** The readers of a batch's tasks. */
  def readers(columns: StructType, tasks: Seq[TaskRanges]): SplitReaderFactory =
    enumerator.readers(columns, tasks.flatMap(_.ranges))

  /** The ranges between two positions. The last result is kept, because Spark plans a batch more than once. */
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

  /** The batches of Spark's real-time mode; None if the source does not support it.
    *
    * @param tasks
    *   how many tasks the executors can run at the same time now
    */
  def realTime(tasks: () => Int): Option[RealTimeBatches] = enumerator match {
    case _: OpenEnded[_] => Some(new RealTimeBatches(openEnded, enumerator.isMember(_), () => current, tasks))
    case _               => None
  }

  // The enumerator is another one after the start that another driver has stored was taken.
  private def openEnded: OpenEnded[Position] = enumerator match {
    case open: OpenEnded[Position @unchecked] => open
    case _                                    => throw new IllegalStateException(s"$source is not read without an end")
  }

  /** What the source ended with, once it is exhausted at `at`. */
  def evidence(at: Position): Option[Evidence] = enumerator.evidence(at)

  /** Spark has committed everything up to `until`. */
  def committed(until: Position): Unit = {
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

  /** The query stops.
    *
    * @param last
    *   the offset after the last batch that Spark has committed
    */
  def stopped(last: => Option[String]): Unit = created.foreach(_.stopped(last.map(position)))

  /** Figures for the query progress. */
  def figures(at: Position): SortedMap[String, String] =
    enumerator.figures(at) ++ slotLog.last.map(layout => ProgressMetric.Slots -> layout.rules.slots.toString)

  /** Further figures for Spark's metric system, as of the last call of [[figures]]. */
  def gauges(at: Position): Iterable[(String, Long)] = enumerator.gauges(at)

  override def close(): Unit = created.foreach(_.close())

  private lazy val pinned = context.copy(session = SessionSettings.pinned(log))

  // Made when first needed, so that a query that fails early opens no connection.
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
