// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source.runtime

import java.time.Instant

/** Event that a source has stored in its side log, for the history of a query.
  *
  * @param number
  *   number of the side-log entry. Several events may have the same number
  * @param at
  *   time of the event
  * @param generation
  *   generation of the metadata document that caused the event; None if no document caused the event
  * @param event
  *   short name, which is the same for all events of one kind
  * @param names
  *   names of the objects that the event concerns, such as clusters, topics or a hand-over rule
  * @param details
  *   further data of the event as one JSON object
  */
final case class HistoryEvent(
    number: Long,
    at: Option[Instant],
    generation: Option[Long],
    event: String,
    names: Seq[String],
    details: Option[String] = None
)
