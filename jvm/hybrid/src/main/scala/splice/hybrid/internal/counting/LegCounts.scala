// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.counting

import splice.hybrid.internal.history.LastRecord
import splice.source.log.Extent
import splice.source.{LogPartition, TimeRange}

/** The content of the report of one task.
  *
  * @param extents
  *   what the task read to its end
  * @param offsets
  *   the bytes of [[splice.source.log.OffsetRuns]] per log partition
  * @param invalid
  *   how many rows have no valid topic, partition, offset
  * @param times
  *   least and greatest event time; None if no row has one
  * @param last
  *   the row with the greatest offset per log partition, if it is compared with the log
  */
final private[splice] case class LegCounts(
    leg: String,
    extents: Seq[Extent],
    offsets: Seq[(LogPartition, Array[Byte])],
    invalid: Seq[Long],
    times: Option[TimeRange],
    last: Seq[(LogPartition, LastRecord)] = Nil
)
