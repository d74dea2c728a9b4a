// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.enumerator.streams

import java.time.Duration

import scala.collection.immutable.{SortedMap, SortedSet}
import scala.util.Using

import splice.kafka.Place
import splice.kafka.dynamic.KafkaStream
import splice.kafka.dynamic.internal.enumerator.{SimulatedClusters, StoppedStreams}
import splice.kafka.dynamic.internal.state.ChangeEntries
import splice.kafka.internal.options.Subscription
import splice.source.{LogPartition, StartPosition}

/** Tests of streams that the metadata stops. */
final class StreamStopSuite extends StoppedStreams {

  test("rows after a stop are not read, and a document without the stop resumes there, including across restarts") {
    val now    = 1700000000000L
    val places = Seq[Place](Place.Latest, offsets(east -> 5L), time(now - 5))
    places.foreach { place =>
      val world = simulated()
      world.logs(east).write(topic(east), 0, (1 to 3).map(now - 20 + _): _*)
      val (end, some) = in(world) { run =>
        val (first, read) = readAll(run, run.start(StartPosition.Configured))
        assert(read == all(east, 3))
        world.logs(east).write(topic(east), 0, (1 to 2).map(now - 10 + _): _*)
        publish(world, stopped(place, east))
        val (stop, more) = readAll(run, first)
        assert(more == all(east, 5).drop(3), place)
        world.logs(east).write(topic(east), 0, (1 to 4).map(now + _): _*)
        val (still, none) = readAll(run, stop)
        assert(none.isEmpty, place)
        still -> (read ++ more)
      }
      assert(history(world).contains("topicStopped" -> Seq(s"$east/${topic(east)}")))
      val after = in(world)(run => readAll(run, world.source.position(end.json)))
      assert(after._2.isEmpty, place)
      world.publish(stream(east))
      in(world) { run =>
        val (_, rest) = readUntil(world, run, world.source.position(after._1.json))(reads(east, 0, 9))
        assert(some ++ rest == all(east, 9), place)
      }
      assert(history(world).contains("topicResumed" -> Seq(s"$east/${topic(east)}")))
      assert(!history(world).exists(_._1 == "topicRemoved"))
    }
  }

  test("a stop applies from the first batch on, and a changed stop is used") {
    val world = simulated("maxOffsetsPerTrigger" -> "2")
    fill(world, east, 9)
    world.publish(stopped(offsets(east -> 3L), east))
    in(world) { run =>
      val (first, some) = readAll(run, run.start(StartPosition.Configured))
      assert(some == all(east, 3))
      publish(world, stopped(offsets(east -> 7L), east))
      val (second, more) = readAll(run, first)
      assert(more == all(east, 7).drop(3))
      // A stop before the position reads no rows and repeats no rows.
      publish(world, stopped(offsets(east -> 1L), east))
      val (third, none) = readAll(run, second)
      assert(none.isEmpty)
      publish(world, stream(east))
      assert(readAll(run, third)._2 == all(east, 9).drop(7))
    }
  }

  test("a topic whose stop is before its start is neither read nor positioned before the start") {
    Seq("latest", "earliest").foreach { begins =>
      val world = simulated("newPartitionsStartAt" -> begins, "commitToGroup" -> "true", "kafka.group.id" -> "g")
      in(world) { run =>
        val (first, _) = readAll(run, run.start(StartPosition.Configured))
        fill(world, west, 5)
        if (begins == "earliest") world.logs(west).expire(topic(west), 0, 5L)
        publish(world, stopped(offsets(east -> 9L, west -> 2L), east, west))
        val (second, none) = readAll(run, first)
        run.committed(second)
        publish(world, stream(east, west))
        val (third, still) = readAll(run, second)
        run.committed(third)
        assert(none.isEmpty && still.isEmpty, begins)
        fill(world, west, 2)
        val (last, rest) = readAll(run, third)
        assert(rest == all(west, 7).drop(5), begins)
        run.committed(last)
      }
      val commits = world.logs(west).commits.flatMap(_.get(LogPartition(topic(west), 0)))
      assert(commits.nonEmpty && commits.forall(_ >= 5L), commits)
    }
  }

  test("if one partition was read past the stop earlier, each partition resumes at its position") {
    val world = simulated()
    world.logs(east).create(topic(east), 2)
    fill(world, east, 6)
    world.logs(east).fill(topic(east), 1, 1)
    in(world) { run =>
      val (first, _) = readAll(run, run.start(StartPosition.Configured))
      world.logs(east).fill(topic(east), 1, 5)
      fill(world, east, 2)
      val place = LogPartition(topic(east), 0) -> 3L
      val stop  = Place.Offsets(SortedMap(east -> SortedMap(place, place._1.copy(partition = 1) -> 4L)))
      publish(world, stopped(stop, east))
      val (second, more) = readAll(run, first)
      assert(more == all(east, 4, partition = 1).drop(1))
      publish(world, stream(east))
      assert(readAll(run, second)._2.sorted == all(east, 8).drop(6) ++ all(east, 6, partition = 1).drop(4))
    }
  }

  test("a stop at a time in the future reads up to the time, and a later document may change the stop") {
    val world = simulated()
    val at    = world.clock.instant().plus(Duration.ofHours(1)).toEpochMilli
    in(world) { run =>
      world.publish(stopped(time(at), east))
      val start = run.start(StartPosition.Configured)
      world.logs(east).write(topic(east), 0, at - 9, at - 8)
      val (first, some) = readAll(run, start)
      assert(some == all(east, 2))
      world.logs(east).write(topic(east), 0, at - 7, at, at + 1)
      val (second, more) = readAll(run, first)
      assert(more == all(east, 3).drop(2))
      world.clock.pass(Duration.ofHours(2))
      val (third, none) = readAll(run, second)
      assert(none.isEmpty && history(world).exists(_._1 == "topicStopped"))
      publish(world, stopped(time(at + 1), east))
      assert(readAll(run, third)._2 == all(east, 4).drop(3))
    }
  }

  test("the position at a stop is kept beyond removedRetention only while a document has the topic") {
    val world = simulated("removedRetention" -> "1h")
    world.publish(stopped(offsets(east -> 3L), east), KafkaStream("t", stream(west).topics))
    fill(world, east, 5)
    in(world) { run =>
      val (first, _) = readAll(run, run.start(StartPosition.Configured))
      world.clock.pass(Duration.ofHours(5))
      val (second, _) = readAll(run, first)
      publish(world, stream(east), KafkaStream("t", stream(west).topics))
      val (third, rest) = readAll(run, second)
      assert(rest == all(east, 5).drop(3))
      publish(world, stopped(Place.Latest, east), KafkaStream("t", stream(west).topics))
      val (fourth, _) = readAll(run, third)
      world.clock.pass(Duration.ofHours(5))
      publish(world, KafkaStream("t", stream(west).topics))
      val (fifth, _) = readAll(run, fourth)
      def states     = new ChangeEntries(world.side).last.get.topics.values.map(_.word).toSet
      assert(states == Set("removed", "reading"))
      world.clock.pass(Duration.ofHours(2))
      val _ = readAll(run, fifth)
      assert(states == Set("gone", "reading"))
    }
  }

  test("a removal limit does not count stops, and onRemoved = fail does not fail") {
    val world = simulated("maxRemovalFraction" -> "0.5", "onRemoved" -> "fail")
    world.publish(stream(east, west))
    in(world) { run =>
      val start = run.start(StartPosition.Configured)
      publish(world, stopped(Place.Latest, east, west))
      val (_, none) = readAll(run, start)
      assert(none.isEmpty && history(world).exists(_._1 == "topicStopped"))
    }
  }

  test("a topic that was read to its stop and is removed with `drop` or `drain` has one end, including in ranges") {
    Seq("drop", "drain").foreach { removed =>
      val world = simulated("onRemoved" -> removed)
      world.publish(stopped(offsets(west -> 3L), east, west))
      Seq(east, west).foreach(fill(world, _, 5))
      in(world) { run =>
        val start         = run.start(StartPosition.Configured)
        val (first, some) = readAll(run, start)
        assert(some.sorted == all(west, 3))
        publish(world, stream(east))
        val (second, rest) = readUntil(world, run, first)(reads(east, 0, 5))
        assert(rest == all(east, 5))
        assert(rows(run, start, second).sorted == all(east, 5) ++ all(west, 3))
      }
    }
  }

  test("rows up to a stop are not abandoned while the cluster is unavailable") {
    val world = simulated("drainTimeout" -> "1min")
    world.publish(stream(east, west))
    in(world) { run =>
      val (first, _) = readAll(run, run.start(StartPosition.Configured))
      fill(world, west, 4)
      world.logs(west).away = Some(_ => true)
      publish(world, stopped(offsets(west -> 3L), east, west))
      val away = (1 to 10).foldLeft(first) { (at, _) =>
        world.clock.pass(Duration.ofMinutes(1))
        advance(run, at)
      }
      world.logs(west).away = None
      val (_, rest) = readUntil(world, run, away)(!_.clusters.contains(west))
      assert(rest == all(west, 3))
    }
  }

  test("with a stop in the future, a partition without a leader does not delay other topics of the cluster") {
    val world = simulated()
    world.logs(east).create(SimulatedClusters.Both, 1)
    val other = KafkaStream("other", SortedMap(east -> SortedSet(SimulatedClusters.Both)))
    world.publish(stopped(time(world.clock.instant().toEpochMilli + 3600000), east), other)
    in(world) { run =>
      val (first, _) = readAll(run, run.start(StartPosition.Configured))
      world.logs(east).leaderless = Set(LogPartition(topic(east), 0))
      world.logs(east).fill(SimulatedClusters.Both, 0, 3)
      val (_, rest) =
        readUntil(world, run, first)(_.of(east).get(LogPartition(SimulatedClusters.Both, 0)).contains(3L))
      assert(rest.size == 3)
    }
  }

  test("a bounded query ends even if a stream stops before its end") {
    val world = simulated("endingOffsets" -> "latest")
    world.publish(stopped(offsets(east -> 3L), east, west))
    Seq(east, west).foreach(fill(world, _, 5))
    in(world) { run =>
      val (end, _) = readAll(run, run.start(StartPosition.Configured))
      assert(run.evidence(end).nonEmpty)
    }
    val partly = simulated("endingOffsets" -> "latest")
    partly.logs(east).create(SimulatedClusters.Both, 1)
    partly.logs(east).fill(SimulatedClusters.Both, 0, 2)
    val both = SortedSet(SimulatedClusters.Both)
    partly.publish(stopped(offsets(east -> 3L), east), KafkaStream("other", SortedMap(east -> both)))
    fill(partly, east, 5)
    in(partly) { run =>
      val start = run.start(StartPosition.Configured)
      val first = advance(run, start)
      // A client describes the topics that its cluster's enumerator subscribes to.
      partly.logs(east).subscribed = Subscription.Topics(both)
      val (end, _) = readAll(run, first)
      assert(rows(run, start, end).size == 5 && run.evidence(end).nonEmpty)
    }
  }

  test("a stop in the future requests positions only for topics with new rows, and no ends of open transactions") {
    val world = simulated()
    val at    = world.clock.instant().plus(Duration.ofHours(1)).toEpochMilli
    world.publish(stopped(time(at), east))
    fill(world, east, 1)
    in(world) { run =>
      val (first, _) = readAll(run, run.start(StartPosition.Configured))
      val calls      = world.logs(east).calls
      calls.clear()
      val same = advance(run, first)
      assert(same == first && calls.nonEmpty && !calls.contains("atTime") && !calls.contains("written"))
      world.logs(east).write(topic(east), 0, at - 9, at)
      val (second, some) = readAll(run, same)
      assert(some == all(east, 2).drop(1) && calls.contains("atTime") && !calls.contains("written"))
      world.clock.pass(Duration.ofHours(2))
      assert(readAll(run, second)._2.isEmpty)
      assert(history(world).exists(_._1 == "topicStopped"))
    }
  }

  test("a run without an end continues to a stop that a run with an end has received") {
    Seq[Place](Place.Latest, time(7)).foreach { stop =>
      val world             = simulated()
      def write(count: Int) = world.logs(east).write(topic(east), 0, Seq.fill(count)(8L): _*)
      fill(world, east, 5)
      val (first, some) = Using.resource(world.start(changed = Seq("endingOffsets" -> "latest"))) { run =>
        val start = world.begin(StartPosition.Configured, run)
        fill(world, east, 2)
        write(3)
        publish(world, stopped(stop, east))
        val (at, rows) = readAll(run, start)
        (readAll(run, at)._1, rows)
      }
      in(world) { run =>
        val (_, rest) = readAll(run, world.source.position(first.json))
        assert(some == all(east, 5) && rest == all(east, if (stop == Place.Latest) 10 else 7).drop(5), stop)
      }
    }
  }
}
