// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source

import java.time.Instant

import scala.collection.immutable.SortedMap

import splice.source.log.OffsetRuns

/** End of a bounded source. A hand-over rule computes the start of the next leg from this evidence. The functions are
  * called on the query's thread while the enumerator is open.
  *
  * A source that reads a log ([[Source.readsLog]]) sets `offsets`. A rule by times cannot follow such a source, so a hybrid
  * does not call `eventTimes` and `modificationTimes`. For any other source, a hybrid counts the rows during reading,
  * and does not call `eventTimes` and `offsets`.
  *
  * @param position
  *   position of the source at its end
  * @param modificationTimes
  *   returns the least and greatest modification time of the files that were read, or None if the source read no file
  * @param eventTimes
  *   returns the least and greatest counted event time, or None if no row has an event time
  * @param offsets
  *   returns the offsets of each log partition in the source. Empty if the source has no rows. Throws a
  *   [[splice.source.errors.SpliceException]] if the source cannot determine the offsets
  * @param table
  *   version of the table that was read; None if the source is not a table
  * @param lastBatch
  *   returns the number of the last batch of a Spark query, given by its id, that the source contains. None if the source
  *   has no such batch, or does not record the queries that have written it
  * @param after
  *   returns the start of a stream of the table after the version that was read. None if the source is not a table, or
  *   its format has no such stream
  */
final case class Evidence(
    position: Position,
    modificationTimes: () => Option[TimeRange] = () => None,
    eventTimes: () => Option[TimeRange] = Evidence.counted,
    offsets: () => Seq[OffsetSummary] = Evidence.counted,
    table: Option[TableVersion] = None,
    lastBatch: String => Option[Long] = _ => None,
    after: () => Option[StartAfterVersion] = () => None
)

object Evidence {
  private val counted: () => Nothing = () => throw new UnsupportedOperationException("rows are counted")
}

/** Version of a table.
  *
  * @param name
  *   name of the table in a catalog, or its format and place
  * @param format
  *   format of the table, such as `delta`
  * @param id
  *   version of Delta, or snapshot id of Iceberg; None for a table without versions
  * @param committed
  *   time of the commit of the version. Without a version, the time of the first start of the query
  * @param metadata
  *   metadata of the commit: the row of Delta's history without its nested values, or the summary of Iceberg's snapshot
  */
final case class TableVersion(
    name: String,
    format: String,
    id: Option[String],
    committed: Instant,
    metadata: SortedMap[String, String] = SortedMap.empty
)

/** Start of a stream of a table after a version.
  *
  * @param offset
  *   offset of the stream, as its JSON
  * @param hasGap
  *   true if the table no longer has the version after the version that was read. The stream then begins with the
  *   first version that the table still has
  */
final case class StartAfterVersion(offset: String, hasGap: Boolean)

/** Range of times, both ends included. */
final case class TimeRange(first: Instant, last: Instant)

/** Columns of an archive that identify the log record of each row.
  *
  * @param topic
  *   None if all rows belong to the only topic of the log
  */
final case class OffsetColumns(topic: Option[String], partition: String, offset: String)

object OffsetColumns {
  def apply(topic: String, partition: String, offset: String): OffsetColumns =
    OffsetColumns(Some(topic), partition, offset)
}

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
