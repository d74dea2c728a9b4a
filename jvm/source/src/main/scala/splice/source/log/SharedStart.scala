// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source.log

import splice.source.Position

/** Format of the file in which another Spark source stores the first position of a checkpoint. Both sources write the
  * same offsets.
  *
  * A source that continues a checkpoint with an unfinished first batch needs the first position, which no offset
  * contains. The file is in the folder that Spark keeps for the source. Each source reads the file, and writes the file
  * if the file does not exist.
  */
trait SharedStart {

  /** Name of the file. */
  def file: String

  /** Reads the first position from the content of the file.
    *
    * @param name
    *   name of the file in errors
    * @throws SpliceException
    *   if a source of another kind wrote the file
    */
  def read(name: String, content: Array[Byte]): Position

  /** Returns the content of the file for a first position. */
  def write(start: Position): Array[Byte]
}
