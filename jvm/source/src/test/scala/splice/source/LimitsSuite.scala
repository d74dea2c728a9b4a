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

  test("a limit of rows ends the batch early") {
    val limits = Limits.Limited(rows = Some(3))
    assert(limits.cap(5, 9) == 8)
    assert(limits.cap(5, 8) == 8)
    assert(limits.cap(5, 6) == 6)
    assert(Limits.Limited(rows = Some(Long.MaxValue)).cap(5, 9) == 9)
  }

  test("a minimum keeps the batch from starting until that many rows exist") {
    val limits = Limits.Limited(minRows = Some(4))
    assert(limits.cap(5, 8) == 5)
    assert(limits.cap(5, 9) == 9)
    assert(limits.withoutMinimum.cap(5, 8) == 8)
  }

  test("a source that has lost rows does not move back") {
    assert(Limits.Everything.cap(5, 4) == 5)
    assert(Limits.Limited(rows = Some(3)).cap(5, 4) == 5)
  }
}
