// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source

import splice.source.errors.CheckpointErrors
import splice.source.internal.entries.Json

/** Position that consists of one number, for example the number of rows that were read: `{"n":5,"v":1}`. */
trait NumberPosition extends Position {

  /** Number of the position, 0 or greater. */
  def n: Long

  final override def json: String = s"""{"n":$n,"v":${NumberPosition.Version}}"""

  final override def precedes(later: Position): Boolean = later match {
    case that: NumberPosition => n <= that.n
    case _                    => false
  }
}

object NumberPosition {

  private val Version = 1

  /** Reads the number from the JSON text of a position.
    *
    * @throws SpliceException
    *   if a newer version of Splice or another source wrote the text, or if the text is damaged
    */
  def read(json: String): Long = {
    val node = Json.read(json).filter(_.isObject).getOrElse(throw CheckpointErrors.corrupt(
      s"The offset '$json'",
      "the offset is not a JSON object"
    ))
    def long(key: String) = Json.field(node, key).filter(_.isIntegralNumber).map(_.asLong)
    long("v").filter(_ > Version.toLong).foreach(v => throw CheckpointErrors.newer("The offset", v.toInt, Version))
    long("n").filter(n => n >= 0 && long("v").contains(Version.toLong)).getOrElse {
      throw CheckpointErrors.foreign(s"The offset '$json'", """{"n":<number>,"v":1}""")
    }
  }
}
