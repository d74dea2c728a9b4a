// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.tally

import java.time.{Clock, Duration}

import splice.hybrid.internal.counting.{CountedColumns, LegCounts}
import splice.source.Position
import splice.source.internal.entries.NumberedEntries
import splice.source.runtime.SideLog

/** The tally of one leg in one run: the entries `tally-<n>` of its side log, and the counts that came since the last one.
  *
  * An entry has all counts so far, so the one before is removed.
  */
final private[hybrid] class LegTally(val columns: CountedColumns, log: SideLog, clock: Clock) {

  private lazy val entries = new NumberedEntries(log, "tally")(TallyFormat.read)

  private lazy val running: Tally = stored.getOrElse(new Tally(columns))

  // Counts of the last batch, which may not be committed.
  private var pending = Vector.empty[LegCounts]
  private var isNew   = false
  private var batches = 0
  private var since   = clock.instant()

  /** The tally of the last entry; None if a changed rule needs a column that it has not counted. */
  def stored: Option[Tally] = entries.numbers.lastOption.map(entries(_)).flatMap(_.of(columns))

  /** The tally that has counted all rows up to the leg's end. */
  def finished(at: Position): Option[Tally] = stored.filter(_.end.contains(at.json))

  def add(counts: LegCounts): Unit = pending :+= counts

  /** Whether there are counts that no entry has. */
  def hasNews: Boolean = isNew || pending.nonEmpty

  /** All batches so far are committed, and one more is planned. The result is the tally, if it was stored now. */
  def advanced(): Option[Tally] = {
    committed()
    if (isNew) batches += 1
    val isDue = isNew && (batches >= LegTally.Batches || !clock.instant().isBefore(since.plus(LegTally.Interval)))
    Option.when(isDue)(store(running))
  }

  /** Stores the counts of committed batches.
    *
    * @param all
    *   whether the last batch is committed too
    */
  def stopped(all: Boolean): Unit = {
    if (all) committed()
    if (isNew) { val _ = store(running) }
  }

  /** Counts what is not counted yet, and stores the tally of all rows up to the leg's end. */
  def finish(at: Position)(rest: Tally => Seq[LegCounts]): Tally = {
    committed()
    rest(running).foreach(running.add)
    finish(at, running)
  }

  /** Stores the tally of all rows up to the leg's end. */
  def finish(at: Position, tally: Tally): Tally = {
    tally.finish(at)
    store(tally)
  }

  private def committed(): Unit = {
    pending.foreach(counts => if (running.add(counts)) isNew = true)
    pending = Vector.empty
  }

  private def store(tally: Tally): Tally = {
    val before = entries.numbers.toSeq
    val stored = entries.append(tally.lines)
    entries.purge(before)
    isNew = false
    batches = 0
    since = clock.instant()
    stored
  }
}

private object LegTally {
  private val Batches  = 64
  private val Interval = Duration.ofMinutes(1)
}
