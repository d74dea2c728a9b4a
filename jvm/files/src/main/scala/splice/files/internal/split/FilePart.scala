// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.split

/** Part of a listed file that one batch reads: the whole file or a block of its [[FileGrid]].
  *
  * @param file
  *   number of the file in the list
  * @param rows
  *   span of rows to read; None = all rows
  */
final private[splice] case class FilePart(file: Int, start: Long, length: Long, rows: Option[RowSpan] = None)

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

/** Rows of a block in reader order, from number `from` (included) to number `until` (excluded). */
final private[splice] case class RowSpan(from: Long, until: Long) {

  /** Selects the rows of the span from all rows of the block. Skips the first rows immediately. */
  def of[A](rows: Iterator[A]): Iterator[A] = {
    var at = 0L
    while (at < from && rows.hasNext) {
      val _ = rows.next()
      at += 1
    }
    new Iterator[A] {
      override def hasNext: Boolean = at < until && rows.hasNext
      override def next(): A        = {
        at += 1
        rows.next()
      }
    }
  }
}

private[splice] object RowSpan {

  /** All rows of a block. */
  val All: RowSpan = RowSpan(0L, Long.MaxValue)
}
