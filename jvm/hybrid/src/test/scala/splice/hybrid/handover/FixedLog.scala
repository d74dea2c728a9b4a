// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.handover

import scala.collection.immutable.SortedMap

import splice.source.LogPartition
import splice.source.log.{LogPartitions, LogRange}

/** Log with fixed ranges. */
final class FixedLog(ranges: SortedMap[LogPartition, LogRange]) extends LogPartitions {

  override def logRanges(history: SortedMap[LogPartition, Long]): SortedMap[LogPartition, LogRange] = ranges
}
