// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source

import splice.source.errors.CheckpointErrors
import splice.source.internal.entries.{Json, VersionedJson}

/** Position that consists of one number, for example the number of rows that were read: `{"n":5,"v":1}`. */
trait NumberPosition extends Position {

  /** Number of the position, 0 or greater. */
  def n: Long

  final override def json: String = VersionedJson.write("n" -> n.toString)

  final override def precedes(later: Position): Boolean = later match {
    case that: NumberPosition => n <= that.n
    case _                    => false
  }
}

object NumberPosition {

  /** Reads the number from the JSON text of a position.
    *
    * @throws SpliceException
    *   if a newer version of Splice or another source wrote the text, or if the text is damaged
    */
  def read(json: String): Long = {
    def corrupt = CheckpointErrors.corrupt(s"The offset '$json'", "the offset is not a JSON object")
    def foreign = CheckpointErrors.foreign(s"The offset '$json'", """{"n":<number>,"v":1}""")
    val node    = Json.readObject(json).getOrElse(throw corrupt)
    VersionedJson.check(node, "The offset")(_ => foreign)
    Json.field(node, "n").filter(_.isIntegralNumber).map(_.asLong).filter(_ >= 0).getOrElse(throw foreign)
  }
}
