// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.testkit

import org.scalatest.funsuite.AnyFunSuite
import org.slf4j.LoggerFactory

final class LoggedMessagesSuite extends AnyFunSuite {

  private def texts(name: String): Seq[String] = LoggedMessages.during(name) {
    LoggerFactory.getLogger("splice.logged.inner.Class").info("inner")
    LoggerFactory.getLogger("splice.logged.Class").info("outer")
  }._2

  test("a package includes messages of its subpackages, even after a subpackage was captured") {
    assert(texts("splice.logged") == Seq("inner", "outer"))
    assert(texts("splice.logged.inner") == Seq("inner"))
    assert(texts("splice.logged") == Seq("inner", "outer"))
    assert(texts("splice.logged.inner.Class") == Seq("inner") && texts("splice.logged.inner") == Seq("inner"))
  }
}
