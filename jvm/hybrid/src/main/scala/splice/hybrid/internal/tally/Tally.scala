// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.tally

import scala.collection.mutable

import splice.hybrid.internal.counting.{CountedColumns, LegCounts}
import splice.source.log.{Coverage, Extent, OffsetRuns}
import splice.source.{LogPartition, OffsetSummary, Position, SplitRange, TimeRange}

/** Counts of the rows of a leg so far. Mutable and not thread-safe.
  *
  * @param covered
  *   counted extents; empty for a log, because its end has the offsets
  */
final private[splice] class Tally private (
    val columns: CountedColumns,
    covered: Coverage,
    counted: mutable.SortedMap[LogPartition, OffsetRuns],
    ofLog: Seq[OffsetSummary]
) {

  private var rejected                 = Seq.empty[Long]
  private var range: Option[TimeRange] = None
  private var ended: Option[String]    = None

  def this(columns: CountedColumns) = this(columns, new Coverage, mutable.SortedMap.empty, Nil)

  /** True if no report was added. */
  def isEmpty: Boolean = covered.isEmpty

  /** True if a row of the extent is counted. */
  def covers(extent: Extent): Boolean = covered.overlaps(extent)

  /** Numbers of rows with an invalid topic, partition and offset; empty without counts. */
  def invalid: Seq[Long] = rejected

  /** Minimum and maximum event time; None if no row has an event time. */
  def times: Option[TimeRange] = range

  /** End position of the leg; None until all rows are counted. */
  def end: Option[String] = ended

  /** Offsets per log partition, ordered by partition. */
  def offsets: Seq[OffsetSummary] =
    ofLog ++ counted.iterator.filter(_._2.rows > 0).map { case (of, runs) => OffsetSummary(of, runs) }

  /** Uncounted ranges, computed by the enumerator. */
  def remaining(ranges: Coverage => Seq[SplitRange]): Seq[SplitRange] = ranges(covered)

  /** Adds the counts of a task. Returns false and adds nothing if some extents are already counted. */
  def add(counts: LegCounts): Boolean = {
    val isNew = !counts.extents.exists(covered.overlaps)
    if (isNew) {
      counts.extents.foreach(covered.add)
      counts.offsets.foreach { case (of, bytes) =>
        counted.getOrElseUpdate(of, new OffsetRuns).addAll(OffsetRuns.fromBytes(bytes))
      }
      rejected = rejected.zipAll(counts.invalid, 0L, 0L).map { case (a, b) => a + b }
      range = (range ++ counts.times).reduceOption(Tally.wider)
    }
    isNew
  }

  /** Marks the tally as complete at the end of the leg. */
  def finish(at: Position): Unit = ended = Some(at.json)

  def lines: Seq[String] = TallyFormat.write(this, covered, counted, ofLog)

  /** Restricts the counts to fewer columns; None if one of the columns was not counted. A rule with fewer columns then
    * needs no second count.
    */
  def of(fewer: CountedColumns): Option[Tally] = Option.when(columns.contain(fewer)) {
    if (columns == fewer) this
    else Tally.stored(fewer, covered, counted.toSeq, ofLog, rejected, range.filter(_ => fewer.time.nonEmpty), ended)
  }
}

private[splice] object Tally {

  /** Tally with the offsets at the end of a log. */
  def ofLog(columns: CountedColumns, offsets: Seq[OffsetSummary]): Tally =
    new Tally(columns, new Coverage, mutable.SortedMap.empty, offsets.sortBy(_.partition))

  /** Restores a stored tally. */
  private[tally] def stored(
      columns: CountedColumns,
      covered: Coverage,
      counted: Seq[(LogPartition, OffsetRuns)],
      ofLog: Seq[OffsetSummary],
      invalid: Seq[Long],
      times: Option[TimeRange],
      end: Option[String]
  ): Tally = {
    val created = new Tally(columns, covered, mutable.SortedMap.from(counted), ofLog)
    created.rejected = invalid
    created.range = times
    created.ended = end
    created
  }

  private def wider(a: TimeRange, b: TimeRange): TimeRange =
    TimeRange(if (a.first.isBefore(b.first)) a.first else b.first, if (a.last.isAfter(b.last)) a.last else b.last)
}
