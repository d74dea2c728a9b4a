// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.enumerator.drain

import scala.collection.immutable.SortedMap
import scala.util.Using

import splice.kafka.Place
import splice.kafka.dynamic.internal.enumerator.{MetadataApplier, RemovedTopics, SimulatedClusters}
import splice.kafka.dynamic.internal.split.{DynamicOffset, DynamicPosition}
import splice.source.errors.SpliceException
import splice.source.runtime.ProgressMetric
import splice.source.{Limits, LogPartition, SplitEnumerator, StartPosition}
import splice.testkit.LoggedMessages

/** Tests of drains of topics whose logs lose records. */
final class TruncatedDrainSuite extends RemovedTopics {

  private val ofEast = LogPartition(topic(east), 0)

  /** Creates clusters with a stream that moves from five records on east to three records on west. */
  private def moving(options: (String, String)*): SimulatedClusters = {
    val world = simulated(
      Seq("cutover" -> "stream", "maxOffsetsPerTrigger" -> "1", "fetchOffset.retryIntervalMs" -> "0") ++ options: _*
    )
    fill(world, east, 5)
    fill(world, west, 3)
    world
  }

  /** Reads two records of east, and moves the stream after the first record. The drain ends at offset 5. */
  private def move(world: SimulatedClusters, run: SplitEnumerator[DynamicOffset]): DynamicOffset = {
    val begun = advance(run, run.start(StartPosition.Configured))
    publish(world, stream(west))
    val moved = advance(run, begun)
    assert(rows(run, begun, moved) == all(east, 2).drop(1))
    moved
  }

  private def isMoved(at: DynamicPosition): Boolean = reads(west, 0, 3)(at) && !at.clusters.contains(east)

  private def isLost(error: SpliceException): Boolean = error.getCondition == "SPLICE_KAFKA_DATA.DATA_LOSS"

  test("a drain ends if its topic is truncated, and the next topic of the stream is read") {
    // The log is truncated after the position, to the position, and before the position.
    Seq(3L -> 3L, 2L -> 2L, 1L -> 2L).foreach { case (end, lost) =>
      val world         = moving("failOnDataLoss" -> "false")
      val range         = s"partition 0 from $lost up to 5"
      val text          = s"${5 - lost} rows are not read ($range), because the log was truncated"
      val (_, warnings) = LoggedMessages.during(classOf[MetadataApplier].getName) {
        Using.resource(world.start()) { run =>
          val moved = move(world, run)
          world.logs(east).truncate(topic(east), 0, end)
          val (last, rest) = readUntil(world, run, moved)(isMoved)
          assert(rest == all(east, end.toInt).drop(2) ++ all(west, 3))
          assert(run.figures(last)(ProgressMetric.RowsAbandoned) == (5 - lost).toString)
        }
      }
      assert(warnings.exists(_.contains(s"abandons the removed topic $east/${topic(east)}, and $text")), warnings)
      assert(history(world).contains("topicAbandoned" -> Seq(s"$east/${topic(east)}: $text")))
    }
  }

  test("after an error about a topic that was truncated during its drain, the drain ends in the next run") {
    Seq(false, true).foreach { frozen =>
      val world = moving()
      val moved = Using.resource(world.start()) { run =>
        val moved = move(world, run)
        world.logs(east).truncate(topic(east), 0, 3)
        assert(isLost(intercept[SpliceException](advance(run, moved))))
        moved
      }
      Using.resource(world.start()) { run =>
        if (frozen) run.freeze()
        val (_, rest) = readUntil(world, run, world.source.position(moved.json))(isMoved)
        assert(rest == all(east, 3).drop(2) ++ all(west, 3), s"frozen: $frozen")
      }
    }
  }

  test("with failOnDataLoss, each run fails if a topic was truncated before its position during its drain") {
    val world = moving()
    val moved = Using.resource(world.start())(move(world, _))
    world.logs(east).truncate(topic(east), 0, 1)
    (1 to 2).foreach { _ =>
      Using.resource(world.start()) { run =>
        assert(isLost(intercept[SpliceException](advance(run, world.source.position(moved.json)))))
      }
    }
    assert(!history(world).exists(_._1 == "topicAbandoned"))
  }

  test("an outdated response with a lower end does not end a drain") {
    val world = moving()
    val moved = Using.resource(world.start())(move(world, _))
    world.logs(east).answerEnds(Map(ofEast -> 3L))
    world.logs(east).answerWritten(Map(ofEast -> 3L))
    world.logs(east).calls.clear()
    Using.resource(world.start()) { run =>
      val from = world.source.position(moved.json)
      val next = advance(run, from)
      assert(world.logs(east).calls.count(_ == "written") == 2)
      val (_, rest) = readUntil(world, run, next)(isMoved)
      assert(rows(run, from, next) ++ rest == all(east, 5).drop(2) ++ all(west, 3))
    }
    assert(!history(world).exists(_._1 == "topicAbandoned"))
  }

  test("a drain to the offsets of a cutover waits until the log has reached the offsets, including across a restart") {
    val world = simulated()
    fill(world, east, 5)
    fill(world, west, 9)
    val cutover = Place.Offsets(
      SortedMap(east -> SortedMap(ofEast -> 7L), west -> SortedMap(LogPartition(topic(west), 0) -> 9L))
    )
    val waiting = Using.resource(world.start()) { run =>
      val (begun, _) = readAll(run, run.start(StartPosition.Configured))
      publish(world, stream(west).copy(cutover = Some(cutover)))
      val (moved, none) = readAll(run, begun)
      assert(none.isEmpty && moved.json.contains(east))
      moved
    }
    Using.resource(world.start()) { run =>
      val (still, none) = readAll(run, world.source.position(waiting.json))
      assert(none.isEmpty && still.json.contains(east))
      fill(world, east, 4)
      val (_, rest) = readUntil(world, run, still)(!_.clusters.contains(east))
      assert(rest == all(east, 7).drop(5))
    }
  }

  test("records after the end of a drain are not lost if retention deletes them while other partitions are read") {
    val world = simulated("cutover" -> "stream")
    world.logs(east).create(topic(east), 2)
    Seq(0, 1).foreach(world.logs(east).fill(topic(east), _, 5))
    fill(world, west, 3)
    val begin = Using.resource(world.start())(world.begin(StartPosition.Configured, _))
    world.publish(stream(west))
    val at    = world.source.position(begin.json.replace(""""0":0,"1":0""", """"0":5,"1":3"""))
    val moved = Using.resource(world.start())(_.advance(at, Limits.Limited(rows = Some(1))))
    fill(world, east, 5)
    world.logs(east).expire(topic(east), 0, 8)
    Using.resource(world.start()) { run =>
      val (last, rest) = readUntil(world, run, world.source.position(moved.json))(isMoved)
      assert(rest == Seq((east, 1, 4L)) ++ all(west, 3) && run.figures(last)(ProgressMetric.RowsSkipped) == "0")
    }
  }

  test(
    "onOutOfRange = latest skips no record after the end of a drain, so that a topic that returns has these records"
  ) {
    val world = moving("onOutOfRange" -> "latest")
    val moved = Using.resource(world.start())(move(world, _))
    fill(world, east, 5)
    world.logs(east).expire(topic(east), 0, 5)
    Using.resource(world.start()) { run =>
      val (drained, _) = readUntil(world, run, world.source.position(moved.json))(reads(east, 0, 5))
      assert(run.figures(drained)(ProgressMetric.RowsSkipped) == "3")
      val (last, rest) = readUntil(world, run, drained)(isMoved)
      assert(rest == all(west, 3))
      publish(world, stream(east, west))
      val (_, returned) = readUntil(world, run, last)(reads(east, 0, 10))
      assert(returned == all(east, 10).drop(5))
    }
  }
}
