// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source

import scala.collection.immutable.SortedMap

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
}

/** The offsets that a log holds.
  *
  * @param from
  *   the first offset, whether or not it has a record
  * @param until
  *   one past the last offset
  */
final case class LogRange(from: Long, until: Long)
