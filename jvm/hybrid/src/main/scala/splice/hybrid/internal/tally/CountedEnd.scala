// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.tally

import splice.source.{Evidence, OffsetColumns, OffsetSummary, Position, TimeRange}

/** End of a leg with counted rows. */
final private[splice] class CountedEnd(end: Evidence, tally: Tally) extends Evidence {
  override def position: Position                                  = end.position
  override def eventTimes(column: String): Option[TimeRange]       = tally.times
  override def modificationTimes: Option[TimeRange]                = end.modificationTimes
  override def offsets(columns: OffsetColumns): Seq[OffsetSummary] = tally.offsets
}
