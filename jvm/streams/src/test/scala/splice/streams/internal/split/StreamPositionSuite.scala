// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.streams.internal.split

import java.nio.charset.StandardCharsets.UTF_8

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import splice.source.errors.SpliceException
import splice.source.internal.entries.Json

final class StreamPositionSuite extends AnyFunSuite {

  test("the text of a position has a fixed form") {
    assert(StreamPosition("""{"0":5}""", 17).json == """{"inner":"{\"0\":5}","n":17,"v":1}""")
    assert(StreamPosition("é\n", 0).json == """{"inner":"é\n","n":0,"v":1}""")
    assert(StreamPosition("\ud800", 0).json == "{\"inner\":\"\\ud800\",\"n\":0,\"v\":1}")
  }

  test("a position keeps each text of an offset, also text that is not valid Unicode") {
    val chance = new Random(1)
    val texts  = Seq("", "17", "\ud800", "\udc00\ud800", "\u0000\u2028\u2029") ++
      Seq.fill(1000)(Seq.fill(chance.nextInt(20))(chance.nextInt(0x10000).toChar).mkString)
    texts.foreach { text =>
      val position = StreamPosition(text, 3)
      assert(StreamPosition.read(position.json) == position)
      val bytes = position.json.getBytes(UTF_8)
      assert(new String(bytes, UTF_8) == position.json && !position.json.exists(_ < ' '))
    }
  }

  test("a parser and a writer of JSON do not change a position") {
    Seq("17", "{ \"a\" : 1.0 }", "é\u2028\u0085\n\\u0061/", "\ud83d\ude00").foreach { text =>
      val json = StreamPosition(text, 3).json
      assert(Json.read(json).map(Json.write).contains(json))
    }
  }

  test("the number orders positions, and two offsets with one number have no order") {
    val first = StreamPosition("b", 1)
    assert(first.precedes(first) && first.precedes(first.moved("a")) && !first.moved("a").precedes(first))
    assert(!first.precedes(StreamPosition("c", 1)) && first != StreamPosition("c", 1))
    assert(first.name != StreamPosition("c", 1).name && first.name != StreamPosition("b", 2).name)
  }

  test("a text that is not a position is rejected") {
    Seq("", "{", "7", "{}", """{"inner":{},"n":1,"v":1}""", """{"inner":"","n":-1,"v":1}""", """{"n":1,"v":1}""")
      .foreach(text => intercept[SpliceException](StreamPosition.read(text)))
  }
}
