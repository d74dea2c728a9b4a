// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.split

/** Identifier of a block of a file in a position, such as `238:134217728`.
  *
  * @param file
  *   number of the file in the list
  * @param start
  *   first byte of the block
  */
final private[splice] case class BlockId(file: Int, start: Long) {
  override def toString: String = s"$file:$start"
}

private[splice] object BlockId {

  implicit val ordering: Ordering[BlockId] = Ordering.by(id => (id.file, id.start))

  /** Parses an identifier; None if the text is invalid. */
  def read(text: String): Option[BlockId] = text.split(':') match {
    case Array(file, start) =>
      file.toIntOption.zip(start.toLongOption).map { case (f, s) => BlockId(f, s) }
        .filter(id => id.file >= 0 && id.start >= 0 && id.toString == text)
    case _ => None
  }
}
