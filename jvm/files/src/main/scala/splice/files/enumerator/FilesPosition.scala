// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.enumerator

import splice.source.{CheckpointErrors, Json, Position}

/** How many files of the logged list have been read.
  *
  * @param files
  *   the number of the next file
  * @param of
  *   how many there are
  */
final private[splice] case class FilesPosition(files: Int, of: Int) extends Position {

  override def json: String = s"""{"files":$files,"of":$of,"v":${FilesPosition.Version}}"""

  override def precedes(later: Position): Boolean = later match {
    case FilesPosition(files, of) => of == this.of && files >= this.files
    case _                        => false
  }

  def finished: Boolean = files >= of
}

private[splice] object FilesPosition {

  val Version = 1

  private val What = "The offset of a file source"

  /** @throws splice.source.SpliceException when the text is of a newer version, of another source, or damaged */
  def read(json: String): FilesPosition = {
    val node = Json.read(json).filter(_.isObject).getOrElse(throw CheckpointErrors.corrupt(
      What,
      s"'$json' is not a JSON object"
    ))
    def number(name: String) = Json.field(node, name).map(_.asInt(-1))
    number("v").filter(_ > Version).foreach(found => throw CheckpointErrors.newer(What, found, Version))
    (number("files"), number("of"), number("v")) match {
      case (Some(files), Some(of), Some(Version)) =>
        if (files < 0 || of < files) throw CheckpointErrors.corrupt(What, s"'$json' is not a position in a list")
        FilesPosition(files, of)
      case _ => throw CheckpointErrors.foreign(s"The offset '$json'", """{"files":<number>,"of":<number>,"v":1}""")
    }
  }
}
