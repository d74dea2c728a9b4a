// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid

import scala.util.Using

import org.scalatest.funsuite.AnyFunSuite

import splice.source._

final class LegLimitsSuite extends AnyFunSuite with HybridWorlds {

  test("the new leg's own limits hold from its first batch on") {
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

  test("limits are those of the leg that a batch begins in") {
    new World {
      override def own: Seq[(String, String)]   = Seq("maxRows" -> "2")
      override def bound: Seq[(String, String)] = Seq("maxRows" -> "1")
      Using.resource(Legs.run(source, log)) { c =>
        assert(batches(c).map(b => ids(c.ranges(b._1, b._2)).size) == Seq(1, 1, 1, 2, 1))
      }
    }
  }

  test("a minimum of the new leg waits in the new leg, and all available overrules it") {
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
}
