// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source.log

import scala.collection.immutable.{ArraySeq, SortedMap}

import splice.source.LogPartition

/** Enumerator of a source that reads the partitions of a log. The enumerator can begin at [[StartPosition.Offsets]]. */
trait LogPartitions {

  /** Returns the offsets that the log currently contains for each partition that the source reads. Sends requests.
    * Records that the source cannot read yet, such as records of an open transaction, are contained up to the end of
    * the history.
    *
    * @param history
    *   end of the history of each partition. A response with a lower end may be outdated, so the enumerator repeats the
    *   request
    * @throws SpliceException
    *   if a topic is not available, or if a partition of the history cannot be attributed to one log
    */
  def logRanges(history: SortedMap[LogPartition, Long]): SortedMap[LogPartition, LogRange]

  /** Returns the records of the log at the given offsets of partitions that [[logRanges]] returned. The result omits a
    * partition whose log has no record at the offset, for example because of retention, compaction or a transaction
    * marker. Sends requests.
    *
    * @throws SpliceException
    *   if the log is not available
    */
  def records(at: SortedMap[LogPartition, Long]): SortedMap[LogPartition, LogRecord]
}

/** Timestamp and key of a log record. A comparison with these values identifies the record.
  *
  * @param millis
  *   timestamp in milliseconds since 1970
  * @param key
  *   key of the record, or None if the record has no key
  */
final case class LogRecord(millis: Long, key: Option[ArraySeq[Byte]])

/** Range of the offsets in a log.
  *
  * @param from
  *   first offset, with or without a record
  * @param until
  *   one past the last offset
  */
final case class LogRange(from: Long, until: Long)
