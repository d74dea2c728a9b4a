// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.split

import org.scalatest.funsuite.AnyFunSuite

final class RowSpanSuite extends AnyFunSuite {

  test("a span is a slice, even beyond the end") {
    for {
      size  <- 0 to 5
      from  <- 0 to 7
      until <- from to 8
    } assert(RowSpan(from.toLong, until.toLong).of(Iterator.range(0, size)).toSeq == (0 until size).slice(from, until))
    assert(RowSpan(2, Long.MaxValue).of(Iterator.range(0, 5)).toSeq == Seq(2, 3, 4))
  }

  test("no row after the span is read") {
    val rows = Iterator.range(0, 10)
    assert(RowSpan(1, 3).of(rows).toSeq == Seq(1, 2))
    assert(rows.next() == 3)
  }
}
