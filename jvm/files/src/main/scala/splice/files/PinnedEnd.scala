// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files

import splice.source.{EndState, OffsetColumns, OffsetSummary, Position, TimeRange}

/** What a source ended with, found out with the settings of the first start. */
final private[files] class PinnedEnd(inner: EndState, session: PinnedSession) extends EndState {
  override def position: Position                                  = inner.position
  override def eventTimes(column: String): Option[TimeRange]       = session.run(inner.eventTimes(column))
  override def modificationTimes: Option[TimeRange]                = inner.modificationTimes
  override def offsets(columns: OffsetColumns): Seq[OffsetSummary] = session.run(inner.offsets(columns))
}
