// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.split

import scala.collection.immutable.SortedMap

import org.scalatest.funsuite.AnyFunSuite

import splice.hybrid.Legs
import splice.hybrid.internal.options.ChainParser
import splice.source.errors.SpliceException
import splice.source.options.SourceOptions
import splice.testkit.internal.memory.MemoryPosition

final class HybridPositionSuite extends AnyFunSuite {

  private val old   = Legs.log()
  private val log   = Legs.log()
  private val chain = ChainParser.parse(
    SourceOptions(Legs.options("zero" -> Legs.history(old)._2, "history" -> Legs.history(old)._2, Legs.live(log)))
  )

  private def at(name: String, offset: Long) = MemoryPosition(name, SortedMap(0 -> offset))

  private val first  = HybridPosition.first(chain, at(old.name, 0))
  private val second = first.moved(at(old.name, 9)).switched("history", at(old.name, 1))
  private val third  = second.switched("live", at(log.name, 7))

  private def condition(text: String): String =
    intercept[SpliceException](HybridPosition.parse(chain, text)).getCondition

  test("the JSON has a version, sorted keys and a position for each started leg") {
    assert(
      third.json ==
        s"""{"legs":{"history":${at(old.name, 1).json},"live":${at(log.name, 7).json},""" +
        s""""zero":${at(old.name, 9).json}},"v":1}"""
    )
    Seq(first, second, third).foreach(p => assert(HybridPosition.parse(chain, p.json).json == p.json))
  }

  test("positions are ordered by leg, then by the position in the leg") {
    assert(first.precedes(first) && first.precedes(second) && first.precedes(third) && second.precedes(third))
    assert(!third.precedes(second) && !second.precedes(first))
    assert(first.precedes(first.moved(at(old.name, 3))) && !first.moved(at(old.name, 3)).precedes(first))
    assert(!first.moved(at(old.name, 99)).precedes(second))
  }

  test("a newer, foreign or corrupt position is rejected") {
    assert(condition(third.json.replace("\"v\":1", "\"v\":2")) == "SPLICE_CHECKPOINT.VERSION_NOT_SUPPORTED")
    assert(condition("""{"orders":{"0":23,"1":100}}""") == "SPLICE_CHECKPOINT.OTHER_SOURCE")
    assert(condition("7") == "SPLICE_CHECKPOINT.OTHER_SOURCE")
    assert(condition(third.json.dropRight(1)) == "SPLICE_CHECKPOINT.CORRUPT")
    assert(condition(third.json.replace("\"zero\"", "\"none\"")) == "SPLICE_CHECKPOINT.CORRUPT")
    assert(condition(first.json.replace("\"zero\"", "\"live\"")) == "SPLICE_CHECKPOINT.CORRUPT")
    assert(condition("""{"legs":{},"v":1}""") == "SPLICE_CHECKPOINT.OTHER_SOURCE")
    assert(condition(first.json.replace(old.name, "other")) == "SPLICE_CHECKPOINT.OTHER_SOURCE")
  }

  test("positions of removed legs are kept unchanged, and the other legs define the order") {
    val short                      = ChainParser.parse(SourceOptions(Legs.options(Legs.live(log))))
    val Seq(one, two, three, four) =
      Seq(first, second, third, third.moved(at(log.name, 9))).map(p => HybridPosition.parse(short, p.json)): @unchecked
    assert(Seq(one, two, three).map(_.json) == Seq(first, second, third).map(_.json))
    assert(one.current.isEmpty && three.leg == "live" && three.position == at(log.name, 7))
    assert(two.precedes(two) && two.precedes(three) && three.precedes(four) && !four.precedes(three))
    assert(!one.precedes(two) && !two.precedes(one) && !three.precedes(two))
    assert(intercept[SpliceException](one.leg).getCondition == "SPLICE_HYBRID.REMOVED_LEG")
  }
}
