// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.enumerator

import splice.source.{Evidence, OffsetColumns, OffsetSummary, Position, TimeRange}

/** End of a bounded hybrid source: the end of its last leg, at the position of the hybrid. */
final private[hybrid] class HybridEvidence(override val position: Position, last: Evidence) extends Evidence {
  override def eventTimes(column: String): Option[TimeRange]       = last.eventTimes(column)
  override def modificationTimes: Option[TimeRange]                = last.modificationTimes
  override def offsets(columns: OffsetColumns): Seq[OffsetSummary] = last.offsets(columns)
}
