// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.history

import splice.hybrid.internal.chain.Leg
import splice.source.{LogPartition, OffsetSummary}

/** Offsets of an ended leg per log partition.
  *
  * @param last
  *   row with the greatest offset per log partition, if compared with the log
  */
final private[splice] case class LegOffsets(
    leg: Leg,
    held: Seq[OffsetSummary],
    last: Map[LogPartition, LastRecord] = Map.empty
)
