// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.handover

import scala.util.Using

import org.scalatest.funsuite.AnyFunSuite

import splice.hybrid.{HybridWorlds, Legs}
import splice.testkit.LoggedMessages

/** Tests of warnings and of the switch entry if policies accept losses and duplicates. */
final class AcceptedLossSuite extends AnyFunSuite with HybridWorlds {

  private trait Warned extends World {

    /** Returns the warnings of a run from the start. */
    def warnings(): Seq[String] = LoggedMessages.during("splice.hybrid.internal.handover.HandOverTable") {
      Using.resource(Legs.run(source, log))(batches(_))
    }._2

    def table: Seq[String] = log.scope("leg-live").get("hand-over-00000000").get.drop(3)
  }

  test("a switch without a loss logs no warning") {
    new Warned {
      assert(warnings().isEmpty)
    }
  }

  test("accepted duplicates produce one warning at the switch, and a restart does not repeat the warning") {
    new Warned {
      override def own: Seq[(String, String)] = Seq("onDuplicates" -> "warn")
      history.archive(0, live.read(0, 0, 1).head)
      val found: Seq[String] = warnings()
      assert(found.size == 1 && found.head.contains("SPLICE_HAND_OVER_DATA.DUPLICATES"), found)
      assert(found.head.contains(s"${live.name}-0 has 3 rows of 2 offsets in 'history' (0 several times)"))
      assert(warnings().isEmpty)
    }
  }

  test("an accepted gap produces one warning with the offsets of each partition") {
    new Warned {
      override def own: Seq[(String, String)] = Seq("onGap" -> "warn")
      live.forget(0, 3)
      live.forget(1, 2)
      val found: Seq[String] = warnings()
      assert(found.size == 1 && found.head.contains("SPLICE_HAND_OVER_DATA.GAP"), found)
      assert(found.head.contains(s"${live.name}-0 2; ${live.name}-1 1"), found)
    }
  }

  test("ignored or filled holes produce no warning") {
    Seq("fill", "ignore").foreach { policy =>
      new Warned {
        override def own: Seq[(String, String)] = Seq("onHoles" -> policy)
        history.archive(0, live.read(1, 2, 3).head)
        assert(warnings().isEmpty)
      }
    }
  }

  test("the switch entry has the findings of each partition") {
    new Warned {
      override def own: Seq[(String, String)] = Seq("onGap" -> "warn", "onDuplicates" -> "warn")
      (6 until 20).foreach(i => live.append(i % 2, i.toLong))
      Seq(1L, 4L, 7L).foreach(offset => history.archive(0, live.read(0, offset, offset + 1).head))
      live.forget(0, 3)
      warnings()
      assert(
        table.head ==
          s"""{"topic":"${live.name}","partition":0,"history":[{"leg":"history","range":[0,8],"offsets":4,"rows":5}],""" +
          """"repeated":{"count":1,"first":[[1,2]],"offsets":1},"missing":{"count":2,"first":[[2,4],[5,7]],"offsets":4},""" +
          """"fill":{"count":2,"first":[[3,4],[5,7]],"offsets":3},""" +
          """"unavailable":{"count":1,"first":[[2,3]],"offsets":1},"log":[3,10],"start":8}"""
      )
    }
  }
}
