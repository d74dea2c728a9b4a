// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.enumerator

import java.time.Duration

import scala.collection.immutable.{SortedMap, SortedSet}
import scala.util.Using

import splice.kafka.Place
import splice.kafka.dynamic.KafkaStream
import splice.kafka.dynamic.internal.split.DynamicOffset
import splice.kafka.internal.errors.KafkaErrors
import splice.source.internal.entries.Json
import splice.source.runtime.ProgressMetric
import splice.source.{SplitEnumerator, StartPosition}

/** Tests of the metrics of clusters and topics in Spark's metric system. */
final class ClusterGaugesSuite extends RemovedTopics {

  private def clusters(run: SplitEnumerator[DynamicOffset], at: DynamicOffset): Map[String, Long] = (for {
    all             <- Json.read(run.figures(at)(ProgressMetric.Clusters)).toSeq
    (name, figures) <- Json.fields(all)
    (key, value)    <- Json.fields(figures)
  } yield s"$name.$key" -> value.asLong).toMap

  private def topics(run: SplitEnumerator[DynamicOffset], at: DynamicOffset): Map[String, Long] = {
    val _ = run.figures(at)
    run.gauges(at).toMap
  }

  test("gauges have the backlog of each topic per cluster, without topics of a removed cluster") {
    val world = simulated("maxOffsetsPerTrigger" -> "2")
    world.publish(stream(east, west))
    Seq(east, west).foreach(fill(world, _, 3))
    Using.resource(world.start()) { run =>
      val first = advance(run, run.start(StartPosition.Configured))
      def rows  = topics(run, first).collect { case (key, n) if key.endsWith(".rowsBehind") => key -> n }
      val names = Seq(east, west).map(c => s"clusters.$c.topics.${topic(c)}.rowsBehind")
      assert(rows.keySet == names.toSet && rows.values.sum == 4)
      assert(topics(run, first)("topicsWithoutGauges") == 0)
      world.publish(stream(east))
      world.awaitRefresh()
      val (last, _) = readUntil(world, run, first)(at => at.of(west).offsets.isEmpty && reads(east, 0, 3)(at))
      assert(topics(run, last).collect { case (key, n) if key.endsWith("rowsBehind") => n -> key } ==
        Map(0L -> names.head))
      assert(clusters(run, last).keySet.forall(_.startsWith(east)))
    }
  }

  test("maxGaugeTopics limits the topics, and the metrics of clusters remain") {
    def gauges(max: Int): Map[String, Long] = {
      val world = new SimulatedClusters(3, 4, 50, "maxGaugeTopics" -> max.toString)
      Using.resource(world.start()) { run =>
        val at = advance(run, run.start(StartPosition.Configured))
        assert(clusters(run, at).count(_._1.endsWith(".splits")) == 3)
        topics(run, at)
      }
    }
    def named(all: Map[String, Long]) = all.keySet.filter(_.endsWith(".partitions"))
    assert(named(gauges(100)).size == 12 && gauges(100)("topicsWithoutGauges") == 0)
    val five = gauges(5)
    assert(five("topicsWithoutGauges") == 7 && five.size <= 5 * 5 + 1)
    // The selected topics are independent of the backlog.
    assert(named(five) == (
      (0 until 4).map(t => s"clusters.$east.topics.${east}-topic-00$t.partitions") :+
        s"clusters.$west.topics.$west-topic-000.partitions"
    ).toSet)
    assert(gauges(0) == Map("topicsWithoutGauges" -> 12L))
  }

  test("a cluster has gauges of availability, age of the last response, and numbers of waiting and draining topics") {
    val world = simulated("clusterWait" -> "100ms", "cutover" -> "stream", "maxOffsetsPerTrigger" -> "1")
    Seq(east, west).foreach(fill(world, _, 3))
    Using.resource(world.start()) { run =>
      val first = advance(run, run.start(StartPosition.Configured))
      val good  = clusters(run, first)
      assert(good(s"$east.available") == 1 && good(s"$east.responseAgeMs") == 0)
      world.clock.pass(Duration.ofSeconds(7))
      assert(clusters(run, first)(s"$east.responseAgeMs") == 7000)
      world.publish(stream(west))
      world.awaitRefresh()
      val second = advance(run, first)
      val moving = clusters(run, second)
      assert(moving(s"$east.topicsDraining") == 1 && moving(s"$west.topicsWaiting") == 1)
      assert(moving(s"$east.topicsWaiting") == 0 && moving(s"$west.topicsDraining") == 0)
      world.logs(east).between =
        _ => throw KafkaErrors.unreachable("east:9092", "its topics", Duration.ofSeconds(1), new Exception("away"))
      val (third, _) = readUntil(world, run, second)(_ => true)
      val bad        = clusters(run, advance(run, third))
      assert(bad(s"$east.available") == 0 && bad(s"$east.responseAgeMs") > 0 && bad(s"$west.available") == 1)
    }
  }

  test("a topic of a move waits only while Splice does not read the topic") {
    Seq("together" -> 0L, "stream" -> 1L).foreach { case (cutover, waiting) =>
      val world = simulated("cutover" -> cutover, "maxOffsetsPerTrigger" -> "1")
      Seq(east, west).foreach(fill(world, _, 3))
      Using.resource(world.start()) { run =>
        val first = advance(run, run.start(StartPosition.Configured))
        world.publish(stream(west))
        world.awaitRefresh()
        val second                   = advance(run, first)
        def of(at: DynamicOffset)    = clusters(run, at)
        def waits(at: DynamicOffset) = of(at)(s"$west.topicsWaiting")
        assert(waits(second) == waiting && of(second)(s"$west.topicsDraining") == 0, cutover)
        assert(of(second)(s"$east.topicsWaiting") == 0 && of(second)(s"$east.topicsDraining") == 1, cutover)
        val (last, _) = readUntil(world, run, second)(reads(west, 0, 3))
        assert(waits(last) == 0 && !of(last).contains(s"$east.topicsDraining"), cutover)
      }
    }
  }

  test("a topic that waits for its start or for the time of a cutover is counted") {
    val world = simulated()
    val later = Place.At(world.clock.instant().plusSeconds(60))
    world.publish(stream(east))
    Seq(east, west).foreach(fill(world, _, 3))
    Using.resource(world.start()) { run =>
      val first = advance(run, run.start(StartPosition.Configured))
      publish(world, stream(west).copy(cutover = Some(later)))
      val (second, _) = readUntil(world, run, first)(_.change > 0)
      val moving      = clusters(run, advance(run, second))
      assert(moving(s"$west.topicsWaiting") == 1 && moving(s"$east.topicsDraining") == 1)
      publish(world, stream(east))
      val back = clusters(run, readUntil(world, run, second)(_.change > 1)._1)
      assert(back(s"$east.topicsWaiting") == 0 && back(s"$east.topicsDraining") == 0)
    }
  }

  test("an inactive cluster has no availability") {
    val world = simulated()
    world.publish(KafkaStream("s", SortedMap(east -> SortedSet(topic(east)), west -> SortedSet(topic(west)))))
    world.inactive = Set(west)
    Using.resource(world.start()) { run =>
      val own = clusters(run, advance(run, run.start(StartPosition.Configured)))
      assert(own(s"$east.available") == 1 && !own.contains(s"$west.available") && !own.contains(s"$west.responseAgeMs"))
    }
  }
}
