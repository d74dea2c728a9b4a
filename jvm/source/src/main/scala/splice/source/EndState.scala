// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source

import java.time.Instant

/** What a bounded source ended with; a hand-over rule makes the next leg's start from it.
  *
  * A source that reads a log ([[Source.readsLog]]) returns its offsets and event times, or raises a [[SpliceException]] if it
  * cannot determine them. A hybrid counts the rows of any other source while it reads them, and does not call these methods.
  */
trait EndState {

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

/** What an archive holds of one log partition.
  *
  * @param first
  *   the least offset
  * @param last
  *   the greatest offset, itself included
  * @param count
  *   how many different offsets there are
  * @param holes
  *   the first missing ranges between `first` and `last`, each from (included) until (excluded); empty only if none miss
  * @param rows
  *   how many rows there are; more than `count` if some offsets have several
  * @param repeated
  *   the first ranges of offsets that have several rows, like `holes`
  */
final case class OffsetSummary(
    partition: LogPartition,
    first: Long,
    last: Long,
    count: Long,
    holes: Seq[(Long, Long)],
    rows: Long,
    repeated: Seq[(Long, Long)] = Nil
) {
  def missing: Long = last - first + 1 - count
}
