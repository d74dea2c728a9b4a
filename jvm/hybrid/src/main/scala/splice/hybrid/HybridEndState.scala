// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid

import splice.source._

/** End of a bounded hybrid source: the end of its last leg, at the position of the hybrid. */
final private[hybrid] class HybridEndState(override val position: Position, last: EndState) extends EndState {
  override def eventTimes(column: String): Option[TimeRange]       = last.eventTimes(column)
  override def modificationTimes: Option[TimeRange]                = last.modificationTimes
  override def offsets(columns: OffsetColumns): Seq[OffsetSummary] = last.offsets(columns)
}
