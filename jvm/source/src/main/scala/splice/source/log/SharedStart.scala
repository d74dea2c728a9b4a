// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source.log

import splice.source.Position

/** How another of Spark's sources keeps the first position of a checkpoint, where both write the same offsets.
  *
  * Whoever goes on with a checkpoint whose first batch is not finished needs the first position, which no offset holds. It is
  * one file in the folder that Spark keeps for the source; each source reads it, and writes it where there is none.
  */
trait SharedStart {

  /** The name of the file. */
  def file: String

  /** What the file says.
    *
    * @param name
    *   the file as errors name it
    * @throws SpliceException
    *   when it was written by a source of another kind
    */
  def read(name: String, content: Array[Byte]): Position

  /** What the file is to hold. */
  def write(start: Position): Array[Byte]
}
