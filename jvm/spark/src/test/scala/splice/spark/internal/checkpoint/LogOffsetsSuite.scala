// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark.internal.checkpoint

import org.scalatest.funsuite.AnyFunSuite

import splice.source.internal.entries.Json
import splice.spark.internal.checkpoint.LogOffsets.Change

final class LogOffsetsSuite extends AnyFunSuite {

  private def json(text: String) = Json.read(text).getOrElse(fail(text))

  private val kafka  = json("""{"orders":{"0":5,"1":7},"again":{"00":3}}""")
  private val hybrid = json("""{"legs":{"history":{"files":2,"v":1},"live":{"orders":{"0":5}}},"v":1}""")
  private val live   = LogOffsets(Seq("legs", "live"))

  private def moved(offsets: String, of: LogOffsets = LogOffsets(Nil)) =
    of.moved(if (of.part.isEmpty) kafka else hybrid, json(offsets)).map { case (after, changes) =>
      Json.write(after) -> changes
    }

  test("named partitions get other offsets, and all other text is unchanged") {
    val wanted = """{"orders":{"0":5,"1":2},"again":{"00":3}}"""
    assert(moved("""{"orders":{"1":2}}""") == Right(wanted -> Seq(Change("orders", 1, 7, 2))))
    assert(Json.write(kafka) == """{"orders":{"0":5,"1":7},"again":{"00":3}}""")
    val ofLeg = """{"legs":{"history":{"files":2,"v":1},"live":{"orders":{"0":9}}},"v":1}"""
    assert(moved("""{"orders":{"0":9}}""", live) == Right(ofLeg -> Seq(Change("orders", 0, 5, 9))))
  }

  test("a partition of a recreated topic keeps the mark of its generation") {
    val wanted = """{"orders":{"0":5,"1":7},"again":{"00":1}}"""
    assert(moved("""{"again":{"0":1}}""").map(_._1) == Right(wanted))
    assert(moved("""{"again":{"00":1}}""").map(_._1) == Right(wanted))
    assert(moved("""{"again":{"000":1}}""").isLeft && moved("""{"orders":{"00":1}}""").isLeft)
  }

  test("an equal offset causes no change") {
    assert(moved("""{"orders":{"0":5}}""").map(_._2) == Right(Nil))
  }

  test("unknown topics, unknown partitions and values that are not offsets are rejected") {
    val wrong = Seq(
      """{"x":{"0":1}}""",
      """{"orders":{"2":1}}""",
      """{"orders":{"a":1}}""",
      """{"orders":{"0":-1}}""",
      """{"orders":{"0":"1"}}""",
      """{"orders":{"0":1.5}}""",
      """{"orders":{"0":18446744073709551617}}""",
      "{}",
      """{"orders":{}}"""
    )
    assert(wrong.filter(moved(_).isRight) == Nil)
  }

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
