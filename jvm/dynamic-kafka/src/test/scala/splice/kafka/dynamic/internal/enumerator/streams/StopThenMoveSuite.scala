// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.enumerator.streams

import java.time.Duration

import scala.collection.immutable.{SortedMap, SortedSet}

import splice.kafka.Place
import splice.kafka.dynamic.KafkaStream
import splice.kafka.dynamic.internal.enumerator.{SimulatedClusters, StoppedStreams, WaitingGroups}
import splice.kafka.dynamic.internal.split.DynamicOffset
import splice.source.{LogPartition, StartPosition}
import splice.testkit.LoggedMessages

/** Tests of streams with a stop that are moved, removed or renamed, and of stops of partitions that are created
  * later.
  */
final class StopThenMoveSuite extends StoppedStreams {

  // Initial time of the simulated clock.
  private val now = 1700000000000L

  private def moved(cutover: Place, to: String = west): KafkaStream = stream(to).copy(cutover = Some(cutover))

  /** Writes 6 records to both clusters, 10 ms apart, and reads to a stop. Returns the position. */
  private def atStop(world: SimulatedClusters, run: Run, stop: Place): DynamicOffset = {
    val start = run.start(StartPosition.Configured)
    Seq(east, west).foreach(cluster => world.logs(cluster).write(topic(cluster), 0, (0 to 5).map(now + 10 * _): _*))
    publish(world, stopped(stop, east))
    world.clock.pass(Duration.ofSeconds(1))
    val (end, read) = readAll(run, start)
    assert(read == all(east, 3) && history(world).exists(_._1 == "topicStopped"))
    end
  }

  private val stops = Seq[Place](offsets(east -> 3L), time(now + 25))

  private def isMoved(world: SimulatedClusters): Boolean =
    history(world).contains("topicRemoved" -> Seq(s"$east/${topic(east)}"))

  test("a cutover reads the topics that were read to their stop up to the cutover, including across a restart") {
    for (stop <- stops; cutover <- Seq(offsets(east -> 5L, west -> 5L), time(now + 45))) {
      val world = simulated()
      val end   = in(world)(run => atStop(world, run, stop))
      world.publish(moved(cutover))
      in(world) { run =>
        val (_, rest) = readUntil(world, run, world.source.position(end.json))(at =>
          !at.clusters.contains(east) && reads(west, 0, 6)(at)
        )
        assert(rest.sorted == all(east, 5).drop(3) ++ all(west, 6).drop(5), s"$stop, $cutover")
      }
    }
  }

  test("a cutover at the stop reads no more rows of the old topic") {
    for (stop <- stops; cutover <- Seq(offsets(east -> 3L, west -> 3L), time(now + 25))) {
      val world = simulated()
      in(world) { run =>
        val end = atStop(world, run, stop)
        publish(world, moved(cutover))
        val (_, rest) = readUntil(world, run, end)(reads(west, 0, 6))
        assert(rest == all(west, 6).drop(3), s"$stop, $cutover")
      }
    }
  }

  test("a cutover replaces a stop in the future") {
    for {
      stop             <- Seq[Place](offsets(east -> 9L), time(now + 95))
      (cutover, begin) <- Seq(offsets(east -> 7L, west -> 6L) -> 6, time(now + 65) -> 7)
    } {
      val world = simulated()
      in(world) { run =>
        val start = run.start(StartPosition.Configured)
        Seq(east, west).foreach(cluster => world.logs(cluster).write(topic(cluster), 0, (0 to 5).map(now + 10 * _): _*))
        publish(world, stopped(stop, east))
        val end = advance(run, start)
        publish(world, moved(cutover))
        val next = advance(run, end)
        assert(isMoved(world), s"$stop, $cutover")
        Seq(east, west).foreach(cluster => world.logs(cluster).write(topic(cluster), 0, now + 60, now + 70))
        val (last, _) = readUntil(world, run, next)(at => !at.clusters.contains(east) && reads(west, 0, 8)(at))
        assert(rows(run, start, last).sorted == all(east, 7) ++ all(west, 8).drop(begin), s"$stop, $cutover")
      }
    }
  }

  test("a cutover before the position of a topic that was read to its stop is rejected with a reason") {
    for (stop <- stops; cutover <- Seq(offsets(east -> 2L, west -> 2L), time(now + 5))) {
      val world = simulated()
      in(world) { run =>
        val end           = atStop(world, run, stop)
        val (_, warnings) = LoggedMessages.during(classOf[WaitingGroups].getName) {
          publish(world, moved(cutover))
          Iterator.iterate(end) { at =>
            world.clock.pass(Duration.ofSeconds(1))
            advance(run, at)
          }.take(8).foreach(at => assert(rows(run, end, at).isEmpty, s"$stop, $cutover"))
        }
        assert(
          warnings.exists(line => line.contains(topic(east)) && line.contains("up to 3")),
          s"$stop, $cutover: $warnings"
        )
        assert(!isMoved(world))
      }
    }
  }

  test("a removed topic is drained up to its stop or its end at the removal, whichever comes first") {
    for {
      (stop, most) <-
        Seq(offsets(east -> 4L) -> 4, offsets(east -> 99L) -> 6, time(now + 35) -> 4, time(now + 3600000L) -> 6)
    } {
      val world = simulated("cutover" -> "stream")
      in(world) { run =>
        val start = run.start(StartPosition.Configured)
        publish(world, stopped(stop, east))
        val end = advance(run, start)
        Seq(east, west).foreach(cluster => world.logs(cluster).write(topic(cluster), 0, (0 to 5).map(now + 10 * _): _*))
        publish(world, stream(west))
        val next = advance(run, end)
        // Records after the removal are not read, even before the stop.
        world.logs(east).write(topic(east), 0, now + 60)
        val (last, _) = readUntil(world, run, next)(reads(west, 0, 6))
        assert(rows(run, start, last) == all(east, most) ++ all(west, 6), stop)
      }
    }
  }

  test(
    "a topic that is removed before its stop delays no cutover of the stream, and no later cutover replaces its stop"
  ) {
    val world = simulated()
    in(world) { run =>
      val start = run.start(StartPosition.Configured)
      world.logs(west).create(SimulatedClusters.Both, 1)
      val both = stream(east, west).copy(stop = Some(time(now + 3600000L)))
      publish(world, both)
      val first = advance(run, start)
      world.logs(east).away = Some(_ => true)
      publish(world, stream(west).copy(stop = both.stop))
      val second = advance(run, first)
      publish(
        world,
        KafkaStream("s", SortedMap(west -> SortedSet(SimulatedClusters.Both)), cutover = Some(time(now + 1000)))
      )
      val third = advance(run, second)
      world.clock.pass(Duration.ofSeconds(5))
      world.logs(west).write(SimulatedClusters.Both, 0, now + 2000)
      // Far less time passes than drainTimeout.
      val last = Iterator.iterate(third) { at =>
        world.clock.pass(Duration.ofSeconds(1))
        advance(run, at)
      }.drop(100).next()
      assert(rows(run, third, last).size == 1)
      assert(history(world).contains("topicCutoverDone" -> Seq(s"$west/${SimulatedClusters.Both}")))
    }
  }

  test(
    "a renamed stream keeps its stop, and so does a topic that moves to a stream with the same stop"
  ) {
    val world = simulated()
    in(world) { run =>
      val start = run.start(StartPosition.Configured)
      publish(world, stopped(Place.Latest, east))
      val (first, none) = readAll(run, start)
      assert(none.isEmpty)
      fill(world, east, 4)
      publish(world, stopped(Place.Latest, east).copy(name = "t"))
      val (second, still) = readAll(run, first)
      assert(still.isEmpty)
      publish(world, stream(east).copy(name = "t"))
      assert(readAll(run, second)._2 == all(east, 4))
    }
  }

  test("a stop of a partition or topic that is created later applies from its creation") {
    val world = simulated("newPartitionsStartAt" -> "earliest")
    val later = LogPartition(topic(east), 1)
    val other = LogPartition(SimulatedClusters.Both, 0)
    in(world) { run =>
      val start = run.start(StartPosition.Configured)
      fill(world, east, 3)
      val ends = SortedMap(LogPartition(topic(east), 0) -> 2L, later -> 4L, other -> 1L)
      publish(
        world,
        KafkaStream(
          "s",
          SortedMap(east -> SortedSet(topic(east), other.topic)),
          stop = Some(Place.Offsets(SortedMap(east -> ends)))
        )
      )
      val (first, read) = readAll(run, start)
      assert(read == all(east, 2))
      world.logs(east).create(topic(east), 2)
      world.logs(east).create(other.topic, 1)
      world.logs(east).fill(topic(east), 1, 6)
      world.logs(east).fill(other.topic, 0, 3)
      val (last, rest) = readUntil(world, run, first)(_.of(east).offsets.isEmpty)
      assert(rest.map(row => row._2 -> row._3).sorted == ((0, 0L) +: (0L to 3L).map(1 -> _)))
      assert(readAll(run, last)._2.isEmpty)
    }
  }
}
