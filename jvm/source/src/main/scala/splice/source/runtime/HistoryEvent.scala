// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source.runtime

import java.time.Instant

/** Something that a source wrote down once in its side log, for who asks what has happened.
  *
  * @param number
  *   counts what was written down; several events may be of one number
  * @param at
  *   when it was
  * @param generation
  *   of the answer that it comes from, if there is one
  * @param event
  *   in a few words that are always the same for the same kind of event
  * @param names
  *   what it happened to
  * @param details
  *   what else is known of it: one JSON object
  */
final case class HistoryEvent(
    number: Long,
    at: Option[Instant],
    generation: Option[Long],
    event: String,
    names: Seq[String],
    details: Option[String] = None
)
