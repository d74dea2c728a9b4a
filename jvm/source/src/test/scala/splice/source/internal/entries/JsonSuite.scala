// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source.internal.entries

import org.scalatest.funsuite.AnyFunSuite

final class JsonSuite extends AnyFunSuite {
  test("keys keep the given order, on one line") {
    val node = Json.obj("b" -> Json.number(1), "a" -> Json.array(Seq(Json.text("x\ny"), Json.bool(true))))
    assert(Json.write(node) == """{"b":1,"a":["x\ny",true]}""")
    assert(Json.read(Json.write(node)).map(Json.write).contains(Json.write(node)))
  }

  test("a text that is not JSON is not read") {
    assert(Json.read("{").isEmpty)
    assert(Json.read("").isEmpty)
    assert(Json.read("{} x").isEmpty)
    assert(Json.read("{}{}").isEmpty)
    assert(Json.read(" {} ").nonEmpty)
  }
}
