// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source

import org.scalatest.funsuite.AnyFunSuite

final class EditDistanceSuite extends AnyFunSuite {
  test("letters put in, taken out, changed") {
    assert(EditDistance("", "abc") == 3)
    assert(EditDistance("subscribe", "subscribe") == 0)
    assert(EditDistance("subscirbe", "subscribe") == 2)
    assert(EditDistance("kitten", "sitting") == 3)
  }
}
