// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.handover

import scala.collection.immutable.SortedMap

import splice.source.LogPartition
import splice.source.log.{LogPartitions, LogRange, LogRecord}

/** Log with fixed ranges and records.
  *
  * @param found
  *   records by partition and offset
  */
final class FixedLog(ranges: SortedMap[LogPartition, LogRange], found: Map[(LogPartition, Long), LogRecord] = Map.empty)
    extends LogPartitions {

  override def logRanges(history: SortedMap[LogPartition, Long]): SortedMap[LogPartition, LogRange] = ranges

  override def records(at: SortedMap[LogPartition, Long]): SortedMap[LogPartition, LogRecord] =
    at.flatMap { case (p, offset) => found.get(p -> offset).map(p -> _) }
}
