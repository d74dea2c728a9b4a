// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.enumerator.streams

import java.time.Duration

import scala.collection.immutable.{SortedMap, SortedSet}
import scala.util.Using

import splice.kafka.dynamic.KafkaStream
import splice.kafka.dynamic.internal.enumerator.{MetadataApplier, RemovedTopics, SimulatedClusters}
import splice.kafka.dynamic.internal.split.DynamicOffset
import splice.kafka.internal.enumerator.SimulatedLog
import splice.source.runtime.ProgressMetric
import splice.source.{LogPartition, StartPosition}
import splice.testkit.LoggedMessages

/** Tests of streams that the metadata pauses. */
final class StreamPauseSuite extends RemovedTopics {

  test("no row of a paused stream is read, even during a drain, and the stream resumes at its position") {
    val world       = simulated()
    val (t, paused) = (KafkaStream("t", stream(west).topics), stream(east).copy(paused = true))
    world.publish(stream(east), t)
    Seq(east, west).foreach(fill(world, _, 2))
    Using.resource(world.start()) { run =>
      val (first, _) = readAll(run, run.start(StartPosition.Configured))
      publish(world, paused, t)
      Seq(east, west).foreach(fill(world, _, 3))
      val (second, some) = readAll(run, first)
      assert(some == all(west, 5).drop(2))
      def shown(at: DynamicOffset) = run.figures(at).get(ProgressMetric.StreamsPaused)
      assert(shown(second).contains("[\"s\"]") && history(world).contains("streamPaused" -> Seq("s")))
      // The stream moves to another topic. Neither topic is read.
      world.logs(west).create(SimulatedClusters.Both, 1)
      world.logs(west).fill(SimulatedClusters.Both, 0, 4)
      val both = SortedMap(west -> SortedSet(SimulatedClusters.Both))
      publish(world, KafkaStream("s", both, paused = true), t)
      val (third, none) = readAll(run, second)
      assert(none.isEmpty)
      publish(world, KafkaStream("s", both), t)
      val (fourth, rest) = readAll(run, third)
      assert(rest.count(_._1 == east) == 3 && rest.filter(_._1 == east) == all(east, 5).drop(2))
      assert(rest.count(_._1 == west) == 4 && shown(fourth).isEmpty)
      assert(history(world).contains("streamResumed" -> Seq("s")))
    }
  }

  test("a recreated topic of a paused stream keeps its position, and its new records are read after the pause") {
    val world = simulated("maxOffsetsPerTrigger" -> "4", "onTopicRecreated" -> "restart", "failOnDataLoss" -> "false")
    val t     = KafkaStream("t", stream(west).topics)
    world.publish(stream(east), t)
    Seq(east, west).foreach(fill(world, _, 4))
    Using.resource(world.start()) { run =>
      val (first, _) = readAll(run, run.start(StartPosition.Configured))
      publish(world, stream(east).copy(paused = true), t)
      world.logs(east).delete(topic(east))
      world.logs(east).create(topic(east), 1)
      fill(world, east, 6)
      fill(world, west, 9)
      // A backlog above the limit is distributed over partitions.
      val positions = Iterator.iterate(first) { at =>
        world.clock.pass(Duration.ofSeconds(1))
        advance(run, at)
      }.take(8).toSeq
      val second = positions.last
      assert(positions.sliding(2).forall { case Seq(a, b) => a.precedes(b); case _ => true })
      assert(positions.sliding(2).flatMap(both => rows(run, both.head, both.last)).toSeq == all(west, 13).drop(4))
      publish(world, stream(east), t)
      assert(readUntil(world, run, second)(reads(east, 0, 6))._2 == all(east, 6))
    }
  }

  test("AvailableNow ends without rows of a paused stream, and a warning names the stream") {
    val world = simulated()
    world.publish(stream(east).copy(paused = true))
    fill(world, east, 2)
    val (_, warnings) = LoggedMessages.during(classOf[MetadataApplier].getName) {
      Using.resource(world.start()) { run =>
        run.freeze()
        val start = run.start(StartPosition.Configured)
        assert(readAll(run, start)._2.isEmpty)
      }
    }
    assert(warnings.count(_.contains("no row of paused streams: s")) == 1)
  }

  test("no run waits for clusters and partitions that have only paused streams") {
    Seq[SimulatedLog => Unit](
      _.leaderless = Set(LogPartition(topic(west), 1)),
      _.away = Some(_ => true)
    ).foreach { fail =>
      val world = simulated(
        "onClusterUnavailable"        -> "fail",
        "clusterTimeout"              -> "1min",
        "fetchOffset.retryIntervalMs" -> "0"
      )
      val paused = KafkaStream("t", stream(west).topics, paused = true)
      world.logs(west).create(topic(west), 2)
      world.publish(stream(east), paused.copy(paused = false))
      Seq(east, west).foreach(fill(world, _, 3))
      val first = Using.resource(world.start())(run => readAll(run, run.start(StartPosition.Configured))._1)
      fail(world.logs(west))
      world.publish(stream(east), paused)
      fill(world, east, 2)
      val second = Using.resource(world.start()) { run =>
        val from = world.source.position(first.json)
        val next = (1 to 5).foldLeft(from) { (at, _) =>
          world.clock.pass(Duration.ofMinutes(1))
          advance(run, at)
        }
        assert(rows(run, from, next) == all(east, 5).drop(3))
        next
      }
      fill(world, east, 2)
      Using.resource(world.start()) { run =>
        run.freeze()
        val own = Thread.currentThread
        world.clock.read = () => if (Thread.currentThread eq own) world.clock.pass(Duration.ofMillis(100))
        assert(readAll(run, world.source.position(second.json))._2 == all(east, 7).drop(5))
      }
    }
  }

  test("an outage during a pause abandons no row of a drain of the paused stream") {
    val world = simulated("drainTimeout" -> "1h")
    world.publish(stream(east))
    fill(world, east, 2)
    Using.resource(world.start()) { run =>
      val (first, _) = readAll(run, run.start(StartPosition.Configured))
      publish(world, stream(west).copy(paused = true))
      fill(world, east, 3)
      world.logs(east).away = Some(_ => true)
      // Failed requests before and after the timeout.
      val second = (1 to 20).foldLeft(first) { (at, i) =>
        world.clock.pass(if (i == 10) Duration.ofHours(2) else Duration.ofSeconds(10))
        advance(run, at)
      }
      world.logs(east).away = None
      publish(world, stream(west))
      val (_, rest) = readUntil(world, run, second)(!_.clusters.contains(east))
      assert(rest == all(east, 5).drop(2))
      assert(!history(world).exists(_._1 == "topicAbandoned"))
    }
  }
}
