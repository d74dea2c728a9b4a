// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.tally

import java.time.{Clock, Duration}

import splice.hybrid.internal.counting.{CountedColumns, LegCounts}
import splice.source.Position
import splice.source.internal.entries.NumberedEntries
import splice.source.log.{Coverage, Extent}
import splice.source.runtime.SideLog

/** Tally of one leg in one run: the entries `tally-<n>` of its side log, and the counts since the last entry.
  *
  * An entry has all counts so far, so older entries are removed.
  *
  * @param blocks
  *   true if the counts of a block are valid only together ([[splice.source.Source.countsBlocks]])
  */
final private[hybrid] class LegTally(
    counted: => CountedColumns,
    log: SideLog,
    clock: Clock,
    blocks: Boolean = false
) {

  /** Columns to count. The first access may read the schema of the leg. */
  lazy val columns: CountedColumns = counted

  private lazy val entries = new NumberedEntries(log, LegTally.Prefix)(TallyFormat.read(_).of(columns))

  private lazy val loaded: Tally = stored.getOrElse(new Tally(columns))

  private var restarted = Option.empty[Tally]

  private def running: Tally = restarted.getOrElse(loaded)

  // Counts of the last batch, which may be uncommitted.
  private var pending = Vector.empty[LegCounts]
  private var isNew   = false
  private var batches = 0
  private var since   = clock.instant()

  /** Tally of the last entry; None if a changed rule needs a column that was not counted. */
  def stored: Option[Tally] = entries.numbers.lastOption.flatMap(entries(_))

  /** Tally of all rows up to the end of the leg, if stored. */
  def finished(at: Position): Option[Tally] = stored.filter(_.end.contains(at.json))

  def add(counts: LegCounts): Unit = pending :+= counts

  /** True if a row of the extent is counted. */
  def covers(extent: Extent): Boolean = running.covers(extent)

  /** Discards all counts. */
  def restart(): Unit = if (entries.numbers.nonEmpty && !stored.exists(_.isEmpty)) {
    pending = Vector.empty
    restarted = Some(store(new Tally(columns))(_ => true))
  }

  /** True if some counts are not stored in an entry. */
  def hasNews: Boolean = isNew || pending.nonEmpty

  /** Adds the pending counts, because a newly planned batch implies that previous batches are committed. Returns the
    * tally if this call stored it.
    */
  def advanced(): Option[Tally] = {
    committed()
    if (isNew) batches += 1
    val isDue = isNew && (batches >= LegTally.Batches || !clock.instant().isBefore(since.plus(LegTally.Interval)))
    Option.when(isDue)(store(running)(_ => true))
  }

  /** Stores the counts of committed batches.
    *
    * @param all
    *   true if the last batch is committed too
    */
  def stopped(all: Boolean): Unit = {
    // Another driver may have committed the batch of a driver that has discarded counts.
    if (all && restarted.isEmpty) committed()
    if (isNew) { val _ = store(running)(_ => true) }
  }

  /** Counts the uncounted rows and stores the tally of all rows up to the end of the leg. */
  def finish(at: Position)(rest: Tally => Seq[LegCounts]): Tally = {
    committed()
    rest(running).foreach(running.add)
    finish(at, running)
  }

  /** Stores the tally of all rows up to the end of the leg. */
  def finish(at: Position, tally: Tally): Tally = {
    tally.finish(at)
    // Another driver may have stored the counts of a part of the rows.
    store(tally)(_.exists(_.end.contains(at.json)))
  }

  /** Stores the tally of all rows up to the end of the leg, unless the stored tally has the same offsets. */
  def finishAgain(at: Position, tally: Tally): Tally =
    finished(at).filter(_.offsets == tally.offsets).getOrElse(finish(at, tally))

  private def committed(): Unit = {
    val valid = if (blocks) LegTally.complete(pending) else pending
    valid.foreach(counts => if (running.add(counts)) isNew = true)
    pending = Vector.empty
  }

  /** Stores a tally. If another driver has stored an accepted tally first, returns that tally. */
  private def store(tally: Tally)(accepts: Option[Tally] => Boolean): Tally = {
    val stored = entries.appendUntil(tally.lines)((_, _) => ())(accepts).getOrElse(tally)
    entries.purge(entries.numbers.toSeq.dropRight(1))
    isNew = false
    batches = 0
    since = clock.instant()
    stored
  }
}

private[tally] object LegTally {
  private val Prefix   = "tally"
  private val Batches  = 64
  private val Interval = Duration.ofMinutes(1)

  /** Columns of the last tally of a leg. */
  def columns(log: SideLog): Option[CountedColumns] = {
    val entries = new NumberedEntries(log, Prefix)(TallyFormat.read)
    entries.numbers.lastOption.map(entries(_).columns)
  }

  /** Counts of the blocks that the readers of one plan have counted completely. */
  def complete(all: Seq[LegCounts]): Seq[LegCounts] = all.groupBy(_.plan).toSeq.sortBy(_._1).flatMap {
    case (_, ofPlan) =>
      val read = new Coverage
      ofPlan.flatMap(_.extents).filterNot(read.overlaps).foreach(read.add)
      ofPlan.filter(_.extents.forall(read.completes))
  }
}
