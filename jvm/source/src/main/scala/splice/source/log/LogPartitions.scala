// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source.log

import java.time.Instant

import scala.collection.immutable.SortedMap

import splice.source.{LogPartition, Position}

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

  /** Returns the time of the first record that a reader receives from each partition after a start. Sends requests.
    * The result omits partitions without a record, and all partitions if the servers do not respond.
    *
    * @param start
    *   position of the source
    */
  def firstTimes(start: Position): SortedMap[LogPartition, Instant] = SortedMap.empty
}

/** Range of the offsets in a log.
  *
  * @param from
  *   first offset, with or without a record
  * @param until
  *   one past the last offset
  */
final case class LogRange(from: Long, until: Long)
