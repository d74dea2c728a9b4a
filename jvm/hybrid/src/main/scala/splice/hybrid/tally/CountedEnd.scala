// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.tally

import splice.source._

/** End of a leg with counted rows. */
final private[tally] class CountedEnd(end: EndState, tally: Tally) extends EndState {
  override def position: Position                                  = end.position
  override def eventTimes(column: String): Option[TimeRange]       = tally.times
  override def modificationTimes: Option[TimeRange]                = end.modificationTimes
  override def offsets(columns: OffsetColumns): Seq[OffsetSummary] = tally.offsets
}
