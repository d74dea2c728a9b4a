// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.counting

import splice.source.log.Extent
import splice.source.{LogPartition, TimeRange}

/** Content of the report of one task.
  *
  * @param extents
  *   extents that the task read to their end
  * @param offsets
  *   bytes of [[splice.source.log.OffsetRuns]] per log partition
  * @param invalid
  *   numbers of rows with an invalid topic, partition and offset
  * @param times
  *   minimum and maximum event time; None if no row has an event time
  */
final private[splice] case class LegCounts(
    leg: String,
    extents: Seq[Extent],
    offsets: Seq[(LogPartition, Array[Byte])],
    invalid: Seq[Long],
    times: Option[TimeRange]
)
