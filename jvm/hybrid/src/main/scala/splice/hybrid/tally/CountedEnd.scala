// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.tally

import splice.source._

/** The end of a leg whose rows were counted. */
final private[tally] class CountedEnd(end: Evidence, tally: Tally) extends Evidence {
  override def position: Position                                  = end.position
  override def eventTimes(column: String): Option[TimeRange]       = tally.times
  override def modificationTimes: Option[TimeRange]                = end.modificationTimes
  override def offsets(columns: OffsetColumns): Seq[OffsetSummary] = tally.offsets
}
