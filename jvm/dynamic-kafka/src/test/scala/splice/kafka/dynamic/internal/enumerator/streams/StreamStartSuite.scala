// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.enumerator.streams

import java.time.{Duration, Instant}

import scala.collection.immutable.{SortedMap, SortedSet}
import scala.util.Using

import splice.kafka.Place
import splice.kafka.dynamic.KafkaStream
import splice.kafka.dynamic.internal.enumerator.{MetadataApplier, RemovedTopics, SimulatedClusters}
import splice.source.runtime.ProgressMetric
import splice.source.{LogPartition, StartPosition}
import splice.testkit.LoggedMessages

/** Tests of starts of streams in the metadata. */
final class StreamStartSuite extends RemovedTopics {

  private val now = 1700000000000L

  // Number of the first read record of 9 records, per start.
  private val places = Seq[(Place, Int)](
    Place.Earliest                                                                  -> 0,
    Place.Latest                                                                    -> 6,
    Place.At(Instant.ofEpochMilli(now - 6))                                         -> 3,
    Place.Offsets(SortedMap(west -> SortedMap(LogPartition(topic(west), 0) -> 4L))) -> 4
  )

  private def write(world: SimulatedClusters, cluster: String): Unit =
    world.logs(cluster).write(topic(cluster), 0, (1 to 6).map(now - 10 + _): _*)

  private def started(at: Place): KafkaStream = KafkaStream("t", stream(west).topics, start = Some(at))

  test("the metadata sets the start at the first start of the query, unless an option of the stream does") {
    places.foreach { case (place, first) =>
      Seq(Nil -> first, Seq("stream.t.startingOffsets" -> "earliest") -> 0, Seq("startingOffsets" -> "latest") -> first)
        .foreach { case (options, from) =>
          val world = simulated(options: _*)
          world.publish(started(place))
          write(world, west)
          Using.resource(world.start()) { run =>
            val start = run.start(StartPosition.Configured)
            fill(world, west, 3)
            assert(readAll(run, start)._2 == all(west, 9).drop(from), s"$place $options")
          }
        }
    }
  }

  test("the metadata sets the start of a stream that is added later or whose cluster is inactive at the first start") {
    for ((place, from) <- places; inactive <- Seq(false, true); policy <- Seq("earliest", "latest")) {
      val world = simulated("newPartitionsStartAt" -> policy)
      if (inactive) {
        world.inactive = Set(west)
        world.publish(stream(east), started(place))
      }
      write(world, west)
      Using.resource(world.start()) { run =>
        val (first, none) = readAll(run, run.start(StartPosition.Configured))
        assert(none.isEmpty)
        world.inactive = Set.empty
        publish(world, stream(east), started(place))
        val (begun, some) = readAll(run, first)
        fill(world, west, 3)
        val (_, more) = readUntil(world, run, begun)(reads(west, 0, 9))
        assert(some ++ more == all(west, 9).drop(from), s"$place $inactive $policy")
      }
    }
  }

  test("a start is decided once: a restart, an outage and a later start have no effect on a topic that has begun") {
    val world = simulated()
    write(world, west)
    val begun = Using.resource(world.start()) { run =>
      val (first, _) = readAll(run, run.start(StartPosition.Configured))
      world.logs(west).away = Some(_ => true)
      publish(world, stream(east), started(Place.Latest))
      val waiting = advance(run, first)
      assert(run.figures(waiting).get(ProgressMetric.Waiting).exists(_.contains(west)))
      world.logs(west).away = None
      readUntil(world, run, waiting)(reads(west, 0, 6))._1
    }
    fill(world, west, 3)
    world.publish(stream(east), started(Place.Earliest))
    val (_, warnings) = LoggedMessages.during(classOf[MetadataApplier].getName) {
      Using.resource(world.start()) { run =>
        assert(readUntil(world, run, world.source.position(begun.json))(reads(west, 0, 9))._2 == all(west, 9).drop(6))
      }
    }
    assert(warnings.count(w => w.contains("start of stream 't'") && w.contains("no effect")) == 1, warnings)
  }

  test("an option of the stream also overrides the start of the metadata for topics that are added later") {
    val world = simulated("stream.t.startingOffsets" -> "latest", "newPartitionsStartAt" -> "earliest")
    write(world, west)
    Using.resource(world.start()) { run =>
      val (first, _) = readAll(run, run.start(StartPosition.Configured))
      publish(world, stream(east), started(Place.Latest))
      assert(readUntil(world, run, first)(reads(west, 0, 6))._2 == all(west, 6))
    }
  }

  test(
    "a start waits for offsets that the log has not reached, and partitions without an offset start like new partitions"
  ) {
    val world = simulated()
    world.logs(west).create(topic(west), 2)
    write(world, west)
    world.logs(west).fill(topic(west), 1, 2)
    Using.resource(world.start()) { run =>
      val (first, _) = readAll(run, run.start(StartPosition.Configured))
      val places     = SortedMap(Seq(0, 7).map(LogPartition(topic(west), _) -> 8L): _*)
      val ahead      = Place.Offsets(SortedMap(west -> places))
      publish(world, stream(east), started(ahead))
      val (second, some) = readAll(run, first)
      assert(some == all(west, 2, partition = 1))
      fill(world, west, 4)
      assert(readUntil(world, run, second)(reads(west, 0, 10))._2 == all(west, 10).drop(8))
    }
  }

  test("a cutover overrides a start, and a new topic of the stream waits for the removed topic") {
    val world = simulated("cutover" -> "stream", "maxOffsetsPerTrigger" -> "2")
    fill(world, east, 5)
    write(world, west)
    Using.resource(world.start()) { run =>
      val first   = advance(run, run.start(StartPosition.Configured))
      val offsets = Seq(east -> 4L, west -> 5L).map { case (c, at) => c -> SortedMap(LogPartition(topic(c), 0) -> at) }
      val cutover = Place.Offsets(SortedMap.from(offsets))
      publish(world, stream(west).copy(cutover = Some(cutover), start = Some(Place.Earliest)))
      assert(readAll(run, first)._2 == all(east, 4).drop(2) ++ all(west, 6).drop(5))
    }
    val waits = simulated("cutover" -> "stream", "maxOffsetsPerTrigger" -> "2")
    fill(waits, east, 5)
    write(waits, west)
    Using.resource(waits.start()) { run =>
      val first = advance(run, run.start(StartPosition.Configured))
      publish(waits, stream(west).copy(start = Some(Place.Earliest)))
      assert(readAll(run, first)._2 == all(east, 5).drop(2) ++ all(west, 6))
    }
  }

  test(
    "a cutover by offsets begins other partitions of a returned topic at the kept position, or like new partitions"
  ) {
    for ((isKept, from) <- Seq(true -> 3, false -> 5)) {
      val world                  = simulated("newPartitionsStartAt" -> "latest", "removedRetention" -> "1h")
      def write(rows: Int): Unit = Seq(0, 1).foreach(world.logs(west).fill(topic(west), _, rows))
      world.logs(west).create(topic(west), 2)
      Using.resource(world.start()) { run =>
        val (first, _) = readAll(run, run.start(StartPosition.Configured))
        publish(world, stream(east, west))
        val (added, _) = readAll(run, first)
        write(3)
        val (read, rows) = readAll(run, added)
        assert(rows.sorted == all(west, 3) ++ all(west, 3, partition = 1))
        publish(world, stream(east))
        val (drained, _) = readAll(run, read)
        if (!isKept) world.clock.pass(Duration.ofHours(2))
        val (left, _) = readAll(run, drained)
        write(2)
        val offsets = Seq(east -> 0L, west -> 4L).map { case (c, at) =>
          c -> SortedMap(LogPartition(topic(c), 0) -> at)
        }
        publish(world, stream(west).copy(cutover = Some(Place.Offsets(SortedMap.from(offsets)))))
        val (back, some) = readAll(run, left)
        write(1)
        val all6 = all(west, 6).drop(4) ++ all(west, 6, partition = 1).drop(from)
        assert((some ++ readAll(run, back)._2).sorted == all6, s"kept: $isKept")
      }
    }
  }

  test("a stream can have a start and a stop") {
    val world  = simulated()
    val topics = SortedMap(west -> SortedSet(topic(west)))
    write(world, west)
    Using.resource(world.start()) { run =>
      val (first, _) = readAll(run, run.start(StartPosition.Configured))
      val times      = Seq(now - 8, now - 6).map(t => Some(Place.At(Instant.ofEpochMilli(t))))
      publish(world, stream(east), KafkaStream("t", topics, start = times.head, stop = times.last))
      val (second, some) = readAll(run, first)
      assert(some == all(west, 3).drop(1))
      publish(world, stream(east), KafkaStream("t", topics, start = times.head))
      assert(readUntil(world, run, second)(reads(west, 0, 6))._2 == all(west, 6).drop(3))
    }
  }
}
