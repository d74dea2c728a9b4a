// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark.internal.checkpoint

import org.scalatest.funsuite.AnyFunSuite

import splice.source.internal.entries.Json

final class LogOffsetsSuite extends AnyFunSuite {

  private def json(text: String) = Json.read(text).getOrElse(fail(text))

  private val kafka  = json("""{"orders":{"0":5,"1":7},"again":{"00":3}}""")
  private val hybrid = json("""{"legs":{"history":{"files":2,"v":1},"live":{"orders":{"0":5}}},"v":1}""")
  private val live   = LogOffsets(Seq("legs", "live"))

  test("the offsets of options have plain and sorted partitions") {
    assert(LogOffsets(Nil).starting(kafka).map(Json.write) == Some("""{"again":{"0":3},"orders":{"0":5,"1":7}}"""))
    assert(live.starting(hybrid).map(Json.write) == Some("""{"orders":{"0":5}}"""))
    assert(LogOffsets(Seq("legs", "next")).starting(hybrid).isEmpty)
  }

  test("the numbers of a position have their leg, cluster, topic and partition") {
    assert(LogOffsets.numbers(hybrid) == Map(Seq("history", "files") -> 2L, Seq("live", "orders", "0") -> 5L))
    val clusters = json("""{"change":3,"clusters":{"east":{"orders":{"0":20}}},"v":1}""")
    assert(LogOffsets.numbers(clusters) == Map(Seq("change") -> 3L, Seq("east", "orders", "0") -> 20L))
    assert(LogOffsets.numbers(json("""{"at":"position-00000012","change":5,"v":1}""")) ==
      Map(Seq("at") -> 12L, Seq("change") -> 5L))
  }
}
