// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.tally

import java.time.{ZoneId, ZoneOffset}

import org.apache.spark.sql.types.StructType
import org.slf4j.LoggerFactory

import splice.hybrid.LogColumns
import splice.hybrid.internal.chain.{Chain, Leg, LegEnumerators}
import splice.hybrid.internal.counting.{CountPlan, CountedColumns, CountedFields, LegCounts, WriterColumns}
import splice.hybrid.internal.errors.HandOverErrors
import splice.hybrid.internal.history.LegOffsets
import splice.hybrid.internal.split.HybridPosition
import splice.source.errors.SpliceException
import splice.source.internal.legs.SkippingLeg
import splice.source.runtime.{Report, SideLog}
import splice.source.{EnumeratorContext, Evidence, OffsetSummary, Position, ReadMode, SplitRange}

/** Counts the rows of legs whose offsets or event times the rules of later legs need.
  *
  * Tasks count the rows that they read and report the counts. Splice stores the counts every minute, every 64
  * batches, and at the end of the leg. At the end of the leg, a job counts the rows that no report covers, unless a
  * second read of these rows may differ. The counts of such a leg are therefore stored after each batch.
  *
  * @param hasEnded
  *   true if a leg has ended permanently and its rows are counted
  * @param requested
  *   columns of a leg that the query reads
  */
final private[hybrid] class Tallies(
    chain: Chain,
    context: EnumeratorContext,
    enumerators: LegEnumerators,
    hasEnded: Leg => Boolean,
    requested: Leg => StructType
) {

  private val tallies: Map[String, LegTally] = (for {
    leg     <- chain.legs
    columns <- CountedColumns.of(chain, leg)((_, named) => named)
  } yield {
    val log       = context.sideLog.scope(LegEnumerators.scope(leg.name))
    def withFound = CountedColumns.of(chain, leg)(found(leg, log, _, _)).getOrElse(columns)
    leg.name -> new LegTally(withFound, log, context.steady, leg.source.countsBlocks)
  }).toMap

  // The data of a leg that was read to its end may be unavailable.
  private def found(leg: Leg, log: SideLog, by: Leg, named: LogColumns.Named): LogColumns.Named = {
    def counted =
      LegTally.columns(log).filter(c => c.areFound || c.offsets.contains(LogColumns.OfLog)).flatMap(_.offsets)
    if (named != LogColumns.OfLog) named
    else counted.getOrElse(leg.errors(context.session.within(WriterColumns.of(leg, by))))
  }

  private val check = new TallyCheck(chain, leg => tallies.get(leg.name).flatMap(_.stored))

  private var checked = Set.empty[String]

  // Number of the last plan of readers.
  private var plans = 0L

  // Only dates and timestamps without time zone need the zone, and they are errors without it.
  private def zone(leg: Leg): ZoneId =
    chain.after(leg).flatMap(_.handOver).flatMap(_.timeZone).getOrElse(ZoneOffset.UTC)

  /** Checks the columns of all counted legs.
    *
    * @throws SpliceException
    *   if a leg lacks a counted column, or the column has an unsupported type
    */
  def checkColumns(): Unit = chain.legs.filter(isCounted).foreach(fields)

  /** True if a hand-over needs the counts of the rows of a leg. The end of a log has the offsets of the log, so its rows
    * are not counted.
    */
  def isCounted(leg: Leg): Boolean = !leg.source.readsLog && tallies.contains(leg.name)

  /** Columns of a leg that the rule of a later leg counts. */
  def columns(leg: Leg): Option[LogColumns.Named] =
    if (isCounted(leg)) tallies(leg.name).columns.offsets else None

  /** Returns the columns to read from a leg, and the plan to count its rows, or None if no report is needed. The columns
    * begin with `requested`.
    */
  def plan(leg: Leg, requested: StructType): Option[(StructType, CountPlan)] = {
    // The columns determine the rows of such a source, so all reads must have the same columns.
    val isReported = context.mode == ReadMode.Stream && !hasEnded(leg)
    Option.when(isCounted(leg) && (isReported || leg.source.skipsRows)) {
      plans += 1
      val (columns, plan) = CountPlan.over(requested, leg.name, fields(leg), zone(leg))
      (columns, plan.copy(number = plans))
    }
  }

  /** Adds the counts of successful tasks. */
  def reported(reports: Seq[Report]): Unit = reports.foreach {
    case Report(_, counts: LegCounts) => tallies.get(counts.leg).foreach(_.add(counts))
    case _                            => ()
  }

  /** Stores the tally of a leg if due. Called before a batch of the leg is planned.
    *
    * @param isStart
    *   true if the batch begins at the start of the leg, so that no stored count applies
    */
  def advanced(leg: Leg, isStart: => Boolean): Unit = running(leg).foreach { tally =>
    val before = Option.when(!checked(leg.name) && !isStart)(tally.stored).flatten
    checked += leg.name
    before.foreach(check(leg, _))
    tally.advanced().foreach(check(leg, _))
  }

  /** Discards counts that a rollback has made invalid. Called before tasks read the ranges.
    *
    * A leg that begins again may list its files again, and the counts do not belong to the new list. If a second read
    * of the ranges may differ, their counts are invalid, and therefore all counts, because a tally has sums.
    */
  def begun(leg: Leg, isStart: => Boolean, ranges: Seq[SplitRange]): Unit =
    tallies.get(leg.name).filter(_ => isCounted(leg)).foreach { tally =>
      lazy val isRepeated = isReadOnce(leg) && ranges.exists(_.extents.exists(tally.covers))
      if (hasEnded(leg) && isRepeated) Tallies.logger.warn(
        s"Splice reads batches of leg '${leg.name}' again, but the start of the next leg is stored and fits only the rows " +
          s"of the first read. With ${skipping(leg).found}, a second read may have other rows. Rows may then be lost or " +
          "duplicated. Compare the rows in the sink with the files."
      )
      if (isRepeated || isStart && !hasEnded(leg)) tally.restart()
    }

  /** True if tasks have reported counts that are not stored. */
  def hasNews: Boolean = tallies.values.exists(_.hasNews)

  /** Stores the counts of committed batches when the query stops.
    *
    * @param all
    *   true if the last batch is committed too
    */
  def stopped(all: Boolean): Unit = chain.legs.flatMap(running).foreach(_.stopped(all))

  /** Stores the counts of committed batches of legs whose rows no job counts. Called after the commit of a batch.
    *
    * @param all
    *   true if the last batch is committed too
    */
  def committed(all: Boolean): Unit = chain.legs.filter(isReadOnce).flatMap(running).foreach(_.stopped(all))

  private def running(leg: Leg): Option[LegTally] =
    tallies.get(leg.name).filter(_ => isCounted(leg) && !hasEnded(leg))

  private def isReadOnce(leg: Leg): Boolean = leg.source.skipSettings.nonEmpty

  private def skipping(leg: Leg) = SkippingLeg(leg.name, leg.source.skipSettings)

  /** End of a leg with the counts of its rows. A job counts the rows that no report covers. The end of a log replaces a
    * stored tally.
    *
    * @throws SpliceException
    *   if the counts cannot be determined, or the counting rule rejects them
    */
  def ended(leg: Leg, at: Position, end: Evidence): Evidence = tallies.get(leg.name).fold(end) { tally =>
    if (isCounted(leg)) {
      val counted = finished(leg, at, end)
      end.copy(eventTimes = () => counted.times, offsets = () => counted.offsets)
    } else {
      // An earlier version of Splice may have stored other offsets for the same position.
      check(leg, tally.finishAgain(at, ofLog(leg, tally.columns, end)))
      end
    }
  }

  /** Offsets of the legs that the rule of `next` counts.
    *
    * @param topics
    *   topics of the log that `next` reads
    * @param end
    *   end of a leg whose tally has other columns, because the rule was changed
    */
  def history(next: Leg, at: HybridPosition, topics: => Seq[String])(end: Leg => Evidence): Seq[LegOffsets] =
    if (next.handOver.flatMap(_.counts).isEmpty) Nil
    else chain.history(next).map { leg =>
      val tally   = finished(leg, at.position(leg.name), end(leg))
      val offsets = LegOffsets(leg, tally.offsets)
      if (tally.columns.offsets.exists(_.offsets.topic.isEmpty)) offsets.ofOnly(topics, next) else offsets
    }

  private def finished(leg: Leg, at: Position, end: => Evidence): Tally = {
    val tally  = tallies(leg.name)
    val result = tally.finished(at).getOrElse {
      if (isCounted(leg)) tally.finish(at)(scan(leg, at, _)) else tally.finish(at, ofLog(leg, tally.columns, end))
    }
    // A run with another rule may have stored the result without this check.
    check(leg, result)
    result
  }

  private def scan(leg: Leg, at: Position, tally: Tally): Seq[LegCounts] = enumerators(leg) { inner =>
    val left = tally.remaining(inner.remaining(at, _))
    if (left.isEmpty) Nil
    else {
      val next = chain.counting(leg).map(_._1).orElse(chain.after(leg)).fold("")(_.name)
      if (isReadOnce(leg) && tally.columns.offsets.nonEmpty)
        throw HandOverErrors.notCounted(skipping(leg), next)
      // Such a source may skip rows only when the query's columns are read. Skipped rows are not rows of the history.
      val read            = if (leg.source.skipsRows) requested(leg) else new StructType()
      val (columns, plan) = CountPlan.over(read, leg.name, fields(leg), zone(leg))
      val readers         = inner.readers(columns, left)
      val errors          = leg.errors
      context.jobs.run(left)(_.preferredHosts) { range =>
        try errors(plan.scan(readers, range))
        catch { case e: SpliceException => throw HandOverErrors.notCountable(errors.leg, next, e) }
      }
    }
  }

  private def ofLog(leg: Leg, columns: CountedColumns, end: => Evidence): Tally = explained(leg) {
    Tally.ofLog(columns, columns.offsets.fold(Seq.empty[OffsetSummary])(_ => end.offsets()))
  }

  /** Adds the reason why the rule needs a leg, unless the rule belongs to the next leg. */
  private def explained[A](leg: Leg)(body: => A): A =
    try body
    catch {
      case e: SpliceException =>
        throw chain.counting(leg).map(_._1).filterNot(chain.after(leg).contains).fold(e) { next =>
          HandOverErrors.noOffsets(leg.name, next.name, e)
        }
    }

  private def fields(leg: Leg): CountedFields = explained(leg) {
    context.session.within(CountedFields.of(chain, leg, tallies(leg.name).columns))
  }
}

private object Tallies {
  private val logger = LoggerFactory.getLogger(classOf[Tallies])
}
