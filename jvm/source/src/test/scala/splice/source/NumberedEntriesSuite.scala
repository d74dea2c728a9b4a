// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source

import org.scalatest.funsuite.AnyFunSuite

final class NumberedEntriesSuite extends AnyFunSuite {

  test("a key gives its number back, also one of more than eight digits") {
    Seq(0, 7, 99999999, 100000000, Int.MaxValue).foreach { number =>
      assert(NumberedEntries.number("skips", NumberedEntries.key("skips", number)).contains(number))
    }
  }

  test("a key without the prefix, or with other digits, is not a numbered entry") {
    Seq("00000001", "skips-1", "skips-000000001", "skips--0000001", "skips-99999999999", "skips-", "starts-00000001")
      .foreach(key => assert(NumberedEntries.number("skips", key).isEmpty, key))
  }
}
