// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.split

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
