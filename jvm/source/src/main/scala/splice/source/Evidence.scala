// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source

import java.time.Instant

import splice.source.log.OffsetRuns

/** What a bounded source ended with; a hand-over rule makes the next leg's start from it.
  *
  * A source that reads a log ([[Source.readsLog]]) returns its offsets and event times, or raises a [[SpliceException]] if it
  * cannot determine them. A hybrid counts the rows of any other source while it reads them, and does not call these methods.
  */
trait Evidence {

  /** The source's position at its end. */
  def position: Position

  /** Least and greatest value of a timestamp column; None when there is no row with one. */
  def eventTimes(column: String): Option[TimeRange] = throw new UnsupportedOperationException("rows are counted")

  /** Least and greatest modification time of the files read; None when there were none. */
  def modificationTimes: Option[TimeRange]

  /** What the source holds of each log partition, by columns that an archiver kept. Empty when there are no rows. */
  def offsets(columns: OffsetColumns): Seq[OffsetSummary] =
    throw new UnsupportedOperationException("rows are counted")
}

final case class TimeRange(first: Instant, last: Instant)

/** Columns of an archive that say which record of the log a row was. */
final case class OffsetColumns(topic: String, partition: String, offset: String)

/** What a source holds of one log partition.
  *
  * @param offsets
  *   of the rows. A source that reads a log has all offsets between `from` and `until`, whether or not there is a record
  * @param from
  *   the least offset, or the offset at which a log was begun
  * @param until
  *   one past the greatest offset, or the offset at which a log was ended; not less than `from`
  */
final case class OffsetSummary(partition: LogPartition, offsets: OffsetRuns, from: Long, until: Long)

object OffsetSummary {

  /** The rows of an archive; at least one. */
  def apply(partition: LogPartition, offsets: OffsetRuns): OffsetSummary =
    OffsetSummary(partition, offsets, offsets.first, offsets.last + 1)

  /** A range of a log that was read. */
  def ofLog(partition: LogPartition, from: Long, until: Long): OffsetSummary =
    OffsetSummary(partition, OffsetRuns.of(from -> until), from, until)
}
