// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source

import org.scalatest.funsuite.AnyFunSuite

class LimitsSuite extends AnyFunSuite {

  test("without a limit a batch reads all rows that exist") {
    assert(Limits.Everything.cap(5, 9) == 9)
    assert(Limits.NotSet.cap(5, 9) == 9)
    assert(Limits.NotSet.cap(0, Long.MaxValue) == Long.MaxValue)
  }

  test("a limit on rows ends the batch early") {
    val limits = Limits.Limited(rows = Some(3))
    assert(limits.cap(5, 9) == 8)
    assert(limits.cap(5, 8) == 8)
    assert(limits.cap(5, 6) == 6)
    assert(Limits.Limited(rows = Some(Long.MaxValue)).cap(5, 9) == 9)
  }

  test("a batch does not start until the minimum number of rows exists") {
    val limits = Limits.Limited(minRows = Some(4))
    assert(limits.cap(5, 8) == 5)
    assert(limits.cap(5, 9) == 9)
    assert(limits.withoutMinimum.cap(5, 8) == 8)
  }

  test("the end of a batch is never before its start, even if the source has lost rows") {
    assert(Limits.Everything.cap(5, 4) == 5)
    assert(Limits.Limited(rows = Some(3)).cap(5, 4) == 5)
  }
}
