// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source.log

import scala.collection.immutable.{ArraySeq, SortedMap}

import splice.source.LogPartition

/** An enumerator of a source that reads the partitions of a log. It can begin at [[StartPosition.Offsets]]. */
trait LogPartitions {

  /** What the log holds now of each partition that the source reads. Sends requests.
    *
    * @param history
    *   the end of the history of partitions. A response with an end before it may be outdated, so the request is sent again
    * @throws SpliceException
    *   when a topic is not available, or the partition of the history cannot be attributed to one log
    */
  def logRanges(history: SortedMap[LogPartition, Long]): SortedMap[LogPartition, LogRange]

  /** The records that the log has at these offsets of partitions that [[logRanges]] returned. A partition is left out if its log has no record
    * there, for example because of retention, compaction or a transaction marker. Sends requests.
    *
    * @throws SpliceException
    *   when the log is not available
    */
  def records(at: SortedMap[LogPartition, Long]): SortedMap[LogPartition, LogRecord]
}

/** The part of a record of a log by which it is recognised.
  *
  * @param millis
  *   the timestamp in milliseconds since 1970
  * @param key
  *   None if the record has no key
  */
final case class LogRecord(millis: Long, key: Option[ArraySeq[Byte]])

/** The offsets that a log holds.
  *
  * @param from
  *   the first offset, whether or not it has a record
  * @param until
  *   one past the last offset
  */
final case class LogRange(from: Long, until: Long)
