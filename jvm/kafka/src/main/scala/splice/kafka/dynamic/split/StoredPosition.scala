// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.split

import com.fasterxml.jackson.databind.JsonNode

import splice.source.{Json, Position}

/** Stands in an offset for a [[DynamicPosition]] that is too long for one: it is in an entry of the side log ([[PositionLog]]).
  *
  * Once an offset of a checkpoint was stored, all later ones are, so that two offsets can be compared without the entries.
  *
  * @param number
  *   of the entry; a later position has a greater one
  * @param change
  *   of the position
  */
final private[splice] case class StoredPosition(number: Int, change: Int) extends Position {

  override lazy val json: String =
    s"""{"at":"${StoredPosition.key(number)}","change":$change,"v":${StoredPosition.Version}}"""

  override def precedes(later: Position): Boolean = later match {
    case that: StoredPosition => number <= that.number
    case _                    => false
  }
}

private[splice] object StoredPosition {

  /** Of the offset: readers that know whole positions only refuse it as a newer one. */
  val Version = 2

  val Prefix = "position-"

  /** The side-log entry of a position. */
  def key(number: Int): String = f"$Prefix$number%08d"

  private val Key = s"$Prefix(\\d{8,})".r

  /** The number of a side-log entry. */
  def number(key: String): Option[Int] = key match {
    case Key(digits) => digits.toIntOption
    case _           => None
  }

  /** None when the object is no such offset. */
  private[split] def read(node: JsonNode): Option[StoredPosition] = for {
    at     <- Json.field(node, "at").filter(_.isTextual)
    number <- number(at.asText)
    change <- DynamicPosition.change(node)
  } yield StoredPosition(number, change)
}
