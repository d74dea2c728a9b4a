// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source

import java.time.Instant

import splice.source.log.OffsetRuns

/** End of a bounded source. A hand-over rule computes the start of the next leg from this evidence.
  *
  * A source that reads a log ([[Source.readsLog]]) implements [[offsets]], which throws a [[SpliceException]] if the
  * source cannot determine the result. A rule by times cannot follow such a source, so a hybrid does not call
  * [[eventTimes]] and [[modificationTimes]]. For any other source, a hybrid counts the rows during reading, and does not
  * call [[eventTimes]] and [[offsets]].
  */
trait Evidence {

  /** Position of the source at its end. */
  def position: Position

  /** Returns the least and greatest value of a timestamp column, or None if no row has a value. */
  def eventTimes(column: String): Option[TimeRange] = throw new UnsupportedOperationException("rows are counted")

  /** Least and greatest modification time of the files that were read, or None if the source read no file. */
  def modificationTimes: Option[TimeRange]

  /** Returns the offsets of each log partition in the source. Empty if the source has no rows.
    *
    * @param columns
    *   columns in which an archive stores the topic, the partition and the offset of each row; a log ignores the columns
    */
  def offsets(columns: OffsetColumns): Seq[OffsetSummary] =
    throw new UnsupportedOperationException("rows are counted")
}

/** Range of times, both ends included. */
final case class TimeRange(first: Instant, last: Instant)

/** Columns of an archive that identify the log record of each row. */
final case class OffsetColumns(topic: String, partition: String, offset: String)

/** Offsets of one log partition in a source.
  *
  * @param offsets
  *   offsets of the rows. For a source that reads a log, the summary has all offsets between `from` and `until`,
  *   including offsets without a record and offsets of the previous history. The summary omits the offsets that the
  *   previous history lacks and the source has not read
  * @param from
  *   least offset. For a log, the offset at which reading began
  * @param until
  *   one past the greatest offset, and not less than `from`. For a log, the offset at which reading ended, or the
  *   greater end of the previous history whose holes the source reads
  */
final case class OffsetSummary(partition: LogPartition, offsets: OffsetRuns, from: Long, until: Long)

object OffsetSummary {

  /** Returns the summary of the rows of an archive. There must be at least one offset. */
  def apply(partition: LogPartition, offsets: OffsetRuns): OffsetSummary =
    OffsetSummary(partition, offsets, offsets.first, offsets.last + 1)

  /** Returns the summary of a range of a log that was read. */
  def ofLog(partition: LogPartition, from: Long, until: Long): OffsetSummary =
    OffsetSummary(partition, OffsetRuns.of(from -> until), from, until)
}
