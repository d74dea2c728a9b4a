// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.enumerator

import scala.util.Using

import org.scalatest.funsuite.AnyFunSuite

import splice.coordinator.internal.sidelog.MemorySideLog
import splice.hybrid.{HybridWorlds, Legs}
import splice.source.{Limits, SplitEnumerator, StartPosition}

final class LegLimitsSuite extends AnyFunSuite with HybridWorlds {

  test("the limits of a new leg apply from its first batch") {
    new World {
      override def own: Seq[(String, String)] = Seq("maxRows" -> "2")
      (6 until 40).foreach(i => live.append(i % 2, i.toLong))
      Using.resource(Legs.run(source, log)) { c =>
        val sizes = batches(c).map(b => ids(c.ranges(b._1, b._2)).size)
        assert(sizes.head == 3 && sizes.tail.forall(_ <= 2) && sizes.sum == 40)
      }
      Using.resource(Legs.run(source)) { c =>
        assert(batches(c, everything = true).map(b => ids(c.ranges(b._1, b._2)).size) == Seq(3, 37))
      }
    }
  }

  test("a batch has the limits of its first leg") {
    new World {
      override def own: Seq[(String, String)]   = Seq("maxRows" -> "2")
      override def bound: Seq[(String, String)] = Seq("maxRows" -> "1")
      Using.resource(Legs.run(source, log)) { c =>
        assert(batches(c).map(b => ids(c.ranges(b._1, b._2)).size) == Seq(1, 1, 1, 2, 1))
      }
    }
  }

  test("the minimum of a new leg delays its batch, except for a read of all available data") {
    new World {
      override def own: Seq[(String, String)] = Seq("minRows" -> "100")
      val enumerator                          = SplitEnumerator.untyped(source, Legs.context(log))
      val ended = enumerator.advance(enumerator.start(StartPosition.Configured), Limits.Limited(rows = Some(9)))
      val until = enumerator.advance(ended, enumerator.limits(ended))
      assert(leg(until) == "live" && enumerator.splits(ended, until).isEmpty)
      assert(enumerator.limits(until).minRows.contains(100L))
      assert(ids(enumerator.splits(until, enumerator.advance(until, Limits.Everything))) == Seq(3, 4, 5))
      enumerator.close()
    }
  }

  test("AvailableNow reads fewer rows than the minimum of the new leg") {
    new World {
      override def own: Seq[(String, String)] = Seq("minRows" -> "100")
      Using.resource(Legs.run(source, log)) { c =>
        c.freeze()
        val all = batches(c)
        assert(leg(all.last._2) == "live" && all.flatMap(b => ids(c.ranges(b._1, b._2))) == (0L to 5L))
      }
    }
  }

  private def limitsOfFirst(own: (String, String)*): Limits.Limited = {
    val source = Legs.source("first" -> own, "live" -> kafka)
    val start  = if (own.contains("source" -> "files")) """{"files":0,"v":1}""" else """{"t":{"0":0}}"""
    val chain  = SplitEnumerator.untyped(source, Legs.context(new MemorySideLog))
    try chain.limits(source.position(s"""{"legs":{"first":$start},"v":1}"""))
    finally chain.close()
  }

  private val kafka = Seq("source" -> "kafka", "subscribe" -> "t", "kafka.bootstrap.servers" -> "broker:9092")
  private val files = Seq("source" -> "files", "format" -> "parquet", "path" -> "/lake")

  test("a bounded leg before another leg has a default limit") {
    assert(limitsOfFirst(files: _*) == Limits.Limited(bytes = Some(8L << 30)))
    assert(limitsOfFirst(files :+ "maxFilesPerTrigger" -> "7": _*) == Limits.Limited(files = Some(7)))
    assert(limitsOfFirst(files :+ "maxBytesPerTrigger" -> "1k": _*) == Limits.Limited(bytes = Some(1024)))
    val bounded = kafka :+ "endingOffsets" -> "latest"
    assert(limitsOfFirst(bounded: _*) == Limits.Limited(rows = Some(10000000L)))
    assert(limitsOfFirst(bounded :+ "maxOffsetsPerTrigger" -> "7": _*).rows.contains(7L))
    val large = limitsOfFirst(bounded :+ "minOffsetsPerTrigger" -> "20000000": _*)
    assert(large.minRows.contains(20000000L) && large.rows.isEmpty)
  }

  test("the last leg has no limit by default") {
    val source = Legs.source("only" -> kafka)
    val chain  = SplitEnumerator.untyped(source, Legs.context(new MemorySideLog))
    try assert(chain.limits(source.position("""{"legs":{"only":{"t":{"0":0}}},"v":1}""")) == Limits.NotSet)
    finally chain.close()
  }
}
