// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.handover

import scala.util.Using

import org.scalatest.funsuite.AnyFunSuite

import splice.coordinator.internal.Coordinator
import splice.coordinator.internal.sidelog.MemorySideLog
import splice.hybrid.internal.counting.CountedColumns
import splice.hybrid.internal.options.ChainParser
import splice.hybrid.internal.split.{HybridPosition, LegRange}
import splice.hybrid.{Legs, LogColumns}
import splice.source.errors.SpliceException
import splice.source.options.SourceOptions
import splice.source.{LogPartition, OffsetColumns, Position, Source}
import splice.testkit.internal.memory.{MemoryLog, MemoryOptions, MemoryRange}

/** Tests of an exact hand-over from several archives to the archived log. */
final class ChainHandOverSuite extends AnyFunSuite {

  /** Log of two partitions with ten records each: ids 0 to 9 in partition 0, and 100 to 109 in partition 1. */
  private trait World {
    val live: MemoryLog     = Legs.log()
    val old: MemoryLog      = Legs.log(1)
    val recent: MemoryLog   = Legs.log(1)
    val side: MemorySideLog = new MemorySideLog
    for (p <- 0 to 1; i <- 0 until 10) live.append(p, 100L * p + i)

    def archive(to: MemoryLog, partition: Int, from: Int, until: Int): Unit =
      live.read(partition, from.toLong, until.toLong).foreach(to.archive(0, _))

    def ofOld: Seq[(String, String)]    = Nil
    def ofRecent: Seq[(String, String)] = Nil

    def source(more: (String, String)*): Source[_ <: Position] = Legs.source(
      "old"    -> MemoryOptions.of(old, ("bounded" -> "true") +: ofOld: _*),
      "recent" -> MemoryOptions.of(recent, ("bounded" -> "true") +: ofRecent: _*),
      Legs.live(live, Seq("handOver" -> "offsets") ++ more: _*)
    )

    def run(more: (String, String)*): Seq[Long] = Using.resource(Legs.run(source(more: _*), side))(all)

    private def all(c: Coordinator): Seq[Long] = Iterator
      .unfold(c.initial()) { at =>
        val next = c.advance(at, everything = true)
        if (next == at) None else Some(c.ranges(at, next) -> next)
      }
      .flatten
      .collect { case LegRange(_, range: MemoryRange) =>
        MemoryLog(range.log).read(range.partition, range.from, range.until).map(_.id)
      }
      .flatten
      .toSeq
      .sorted

    def refused(more: (String, String)*): SpliceException = intercept[SpliceException](run(more: _*))

    val every: Seq[Long] = (0L until 10L) ++ (100L until 110L)
  }

  test("a partition that only the older archive has is not read again from the log") {
    new World {
      archive(old, 0, 0, 4)
      archive(old, 1, 0, 5)
      archive(recent, 0, 4, 7)
      assert(run() == every)
    }
  }

  test("the older archive is no longer needed after its offsets are counted") {
    new World {
      archive(old, 1, 0, 5)
      archive(recent, 0, 0, 7)
      val ended: String = Using.resource(Legs.run(source(), side)) { c =>
        val at = c.advance(c.advance(c.initial(), everything = true), everything = true)
        assert(at.asInstanceOf[HybridPosition].leg == "recent")
        at.json
      }
      assert(old.requested("remaining") == 1)
      old.remove()
      Using.resource(Legs.run(source(), side)) { c =>
        val at  = c.position(ended)
        val ids = c.ranges(at, c.advance(at, everything = true)).collect { case LegRange("live", r: MemoryRange) =>
          (r.partition, r.from, r.until)
        }
        assert(ids.toSet == Set((0, 7L, 10L), (1, 5L, 10L)))
      }
    }
  }

  test("the log supplies offsets that are missing between two archives") {
    new World {
      archive(old, 0, 0, 3)
      archive(recent, 0, 5, 7)
      assert(run() == every)
    }
  }

  private val oneTopic = Seq("logColumns" -> """{"partition":"partition","offset":"offset"}""")

  test("rows without a topic belong to the only topic of the log, together with the rows of other archives") {
    new World {
      override def ofOld: Seq[(String, String)] = oneTopic
      archive(old, 0, 0, 3)
      archive(old, 1, 0, 2)
      archive(recent, 0, 5, 7)
      assert(run() == every)
    }
    new World {
      override def ofOld: Seq[(String, String)] = oneTopic
      archive(old, 0, 0, 6)
      archive(recent, 0, 4, 5)
      assert(refused().getCondition == "SPLICE_HAND_OVER_DATA.DUPLICATES")
    }
  }

  test("a row with an empty topic does not give the other rows of its leg the topic of the log") {
    new World {
      archive(old, 0, 0, 3)
      old.archive(0, old.read(0, 0, 1).head.copy(origin = LogPartition("", 0)))
      assert(refused().getCondition == "SPLICE_HAND_OVER.PARTITION_NOT_FOUND")
    }
  }

  test("missing offsets between two archives are an error with partition and range if onHoles is fail") {
    new World {
      archive(old, 0, 0, 3)
      archive(recent, 0, 5, 7)
      val error = refused("onHoles" -> "fail")
      assert(error.getCondition == "SPLICE_HAND_OVER_DATA.HOLES")
      assert(error.getMessage.contains(s"${live.name}-0 lacks 2 (3 to 4)"), error.getMessage)
      assert(run("onHoles" -> "ignore") == every.diff(Seq(3L, 4L)))
    }
  }

  test("if the log has a part of the holes, the policy applies to the other offsets") {
    new World {
      archive(old, 0, 0, 3)
      archive(recent, 0, 6, 7)
      live.forget(0, 4)
      val error = refused()
      assert(error.getCondition == "SPLICE_HAND_OVER_DATA.GAP")
      assert(error.getMessage.contains(s"${live.name}-0 3."), error.getMessage)
      assert(run("onGap" -> "warn") == every.diff(Seq(3L)))
    }
  }

  test("two archives that overlap are an error, and a read with onDuplicates = warn accepts the copies") {
    new World {
      archive(old, 0, 0, 6)
      archive(recent, 0, 4, 5)
      val error = refused()
      assert(error.getCondition == "SPLICE_HAND_OVER_DATA.DUPLICATES")
      assert(error.getMessage.contains(s"${live.name}-0 has 1 offsets in both 'old' and 'recent' (4)"))
      assert(run("onDuplicates" -> "warn") == (every :+ 4L).sorted)
    }
  }

  test("a row that an archive has twice is an error with partition, offset and counts") {
    new World {
      archive(old, 0, 0, 3)
      archive(old, 0, 1, 2)
      archive(recent, 0, 3, 4)
      val error = refused()
      assert(error.getCondition == "SPLICE_HAND_OVER_DATA.DUPLICATES")
      assert(error.getMessage.contains(s"${live.name}-0 has 4 rows of 3 offsets in 'old' (1 several times)"))
    }
  }

  test("a partition without history is read from its first record, unless earlier records were removed") {
    new World {
      archive(old, 0, 0, 3)
      archive(recent, 0, 3, 4)
      assert(run() == every)
    }
    new World {
      archive(old, 0, 0, 3)
      archive(recent, 0, 3, 4)
      live.forget(1, 2)
      val error = refused()
      assert(error.getCondition == "SPLICE_HAND_OVER_DATA.GAP" && error.getMessage.contains(s"${live.name}-1 0 to 1"))
      assert(run("onGap" -> "warn") == every.diff(Seq(100L, 101L)))
    }
  }

  test("the log supplies offsets before the history") {
    new World {
      archive(old, 0, 2, 3)
      archive(recent, 0, 3, 4)
      assert(run() == every)
    }
    new World {
      archive(old, 0, 2, 3)
      archive(recent, 0, 3, 4)
      live.forget(0, 2)
      assert(refused().getMessage.contains(s"${live.name}-0 0 to 1"))
      assert(run("onHoles" -> "ignore") == every.diff(Seq(0L, 1L)))
    }
  }

  test("an empty archive between two other archives has no effect") {
    new World {
      archive(old, 0, 0, 3)
      assert(run() == every)
    }
  }

  test("a restart can correct a rejected hand-over and counts the offsets again by other columns") {
    new World {
      archive(old, 1, 0, 5)
      archive(recent, 1, 6, 8)
      assert(refused("handOver.offset" -> "id").getMessage.contains("108"))
      assert(refused("onHoles" -> "fail").getCondition == "SPLICE_HAND_OVER_DATA.HOLES")
      assert(run() == every)
      assert(Seq("old", "recent").forall(leg => side.scope(s"leg-$leg").keys("tally-").size == 1))
    }
  }

  private def offsetIn(column: String) =
    "logColumns" -> s"""{"topic":"topic","partition":"partition","offset":"$column"}"""

  test("a leg with logColumns is counted by these columns, and other legs by the columns of the rule") {
    new World {
      // Only in partition 0 the ids equal the offsets.
      override def ofRecent: Seq[(String, String)] = Seq(offsetIn("offset"))
      archive(old, 0, 0, 4)
      archive(recent, 1, 0, 5)
      assert(run("handOver.offset" -> "id") == every)
    }
  }

  test("a leg is counted again if its columns change at a restart, and the other leg is not") {
    new World {
      private var column                           = "id"
      override def ofRecent: Seq[(String, String)] = Seq(offsetIn(column))
      archive(old, 0, 0, 4)
      archive(recent, 1, 0, 5)
      assert(refused().getCondition == "SPLICE_HAND_OVER_DATA.HISTORY_BEYOND_LOG")
      column = "offset"
      assert(run() == every)
      assert(old.requested("remaining") == 1 && recent.requested("remaining") == 2)
    }
  }

  test("the rows of an excluded leg are read, and do not affect the start of the log") {
    new World {
      override def ofOld: Seq[(String, String)] = Seq("logColumns" -> "none")
      archive(old, 1, 0, 5)
      archive(recent, 0, 0, 7)
      assert(run() == (every ++ (100L until 105L)).sorted)
      assert(old.requested("remaining") == 0 && side.scope("leg-old").keys("tally-").isEmpty)
    }
  }

  test("an error names a leg without the columns of the rule, and explains the count of an indirect previous leg") {
    Seq("old" -> "NO_OFFSETS", "recent" -> "COLUMN_NOT_FOUND").foreach { case (name, condition) =>
      new World {
        override def ofOld: Seq[(String, String)]    = if (name == "old") Seq(offsetIn("none")) else Nil
        override def ofRecent: Seq[(String, String)] = if (name == "old") Nil else Seq(offsetIn("none"))
        val error: SpliceException                   = refused()
        assert(error.getCondition == s"SPLICE_HAND_OVER.$condition", error.getMessage)
        Seq(s"leg '$name'", "leg 'live'", "'none' (offset)", s"Correct '$name.logColumns'").foreach(words =>
          assert(error.getMessage.contains(words), error.getMessage)
        )
      }
    }
  }

  private def kafka(name: String, more: (String, String)*): (String, Seq[(String, String)]) =
    name -> (Seq("source" -> "kafka", "subscribe" -> "t", "kafka.bootstrap.servers" -> "broker:9092") ++ more)

  private def files(name: String): (String, Seq[(String, String)]) =
    name -> Seq("source" -> "files", "format" -> "parquet", "path" -> s"/lake/$name")

  private def counted(legs: (String, Seq[(String, String)])*): Seq[String] = {
    val chain = ChainParser.parse(SourceOptions(Legs.options(legs: _*)))
    chain.history(chain.last).map(_.name)
  }

  test("an exact hand-over counts all previous legs, back to the nearest log") {
    val bounded = "endingOffsets" -> "latest"
    val exact   = "handOver"      -> "offsets"
    assert(counted(files("a"), files("b"), kafka("live", exact)) == Seq("a", "b"))
    assert(counted(files("a"), kafka("k", bounded, exact), kafka("live", exact)) == Seq("k"))
    assert(counted(files("a"), kafka("k", bounded), kafka("live", exact)) == Seq("k"))
    assert(counted(kafka("k", bounded), files("a"), kafka("live", exact)) == Seq("k", "a"))
    assert(counted(kafka("j", bounded), kafka("k", bounded, exact), kafka("live", exact)) == Seq("k"))
  }

  private def columns(legs: (String, Seq[(String, String)])*): Map[String, CountedColumns] = {
    val chain = ChainParser.parse(SourceOptions(Legs.options(legs: _*)))
    chain.legs.flatMap(leg => CountedColumns.of(chain, leg)((_, named) => named).map(leg.name -> _)).toMap
  }

  test("only legs whose offsets or event times a later rule needs are counted") {
    val own    = LogColumns.Named(OffsetColumns("topic", "partition", "o"))
    val ofLog  = LogColumns.Named(OffsetColumns("topic", "partition", "offset"))
    val timed  = Seq("handOver" -> "nowMinus", "handOver.duration" -> "1h")
    val exact  = Seq("handOver" -> "offsets", "handOver.offset" -> "o")
    val ending = "endingOffsets" -> "latest"
    assert(columns(files("a"), kafka("k", ending +: timed: _*), files("b"), kafka("live", exact: _*)) ==
      Map("k" -> CountedColumns(Some(ofLog), None), "b" -> CountedColumns(Some(own), None)))
    assert(columns(files("a"), kafka("live", timed: _*)).isEmpty)
    val byTime = Seq("handOver" -> "eventTime", "handOver.column" -> "t", "handOver.overlap" -> "1h")
    assert(columns(files("a"), kafka("live", byTime: _*)) == Map("a" -> CountedColumns(None, Some("t"))))
    assert(columns(kafka("k", ending), kafka("live", byTime: _*)).isEmpty)
    assert(columns(kafka("k", ending), kafka("live", exact: _*)) == Map("k" -> CountedColumns(Some(ofLog), None)))
  }
}
