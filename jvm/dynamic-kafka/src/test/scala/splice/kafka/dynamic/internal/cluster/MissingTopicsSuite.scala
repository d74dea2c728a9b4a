// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.cluster

import java.time.Duration

import scala.collection.immutable.{SortedMap, SortedSet}
import scala.util.Using

import splice.kafka.dynamic.KafkaStream
import splice.kafka.dynamic.internal.enumerator.{RemovedTopics, SimulatedClusters}
import splice.source.StartPosition
import splice.source.runtime.ProgressMetric
import splice.testkit.LoggedMessages

/** Tests of topics in the metadata that do not exist. */
final class MissingTopicsSuite extends RemovedTopics {

  private def named(topics: String*): KafkaStream =
    KafkaStream("s", SortedMap(east -> SortedSet.from(topics)))

  test("a missing topic is in the progress and in one warning per interval until it exists") {
    val world = simulated()
    fill(world, east, 3)
    Using.resource(world.start()) { run =>
      val (first, _) = readUntil(world, run, run.start(StartPosition.Configured))(reads(east, 0, 3))
      assert(run.figures(first)(ProgressMetric.MissingTopics) == "0")
      assert(!run.figures(first).contains(ProgressMetric.MissingTopicNames))
      world.logs(east).named = Set(SimulatedClusters.Both)
      world.publish(named(topic(east), SimulatedClusters.Both))
      world.awaitRefresh()
      val (_, warnings) = LoggedMessages.during(classOf[MissingTopics].getName) {
        val (second, _) = readUntil(world, run, first)(at => run.figures(at)(ProgressMetric.MissingTopics) == "1")
        assert(run.figures(second)(ProgressMetric.MissingTopicNames) == s"""{"s":["$east/both"]}""")
        val third = advance(run, advance(run, second))
        world.clock.pass(MissingTopics.Interval.plus(Duration.ofSeconds(1)))
        val fourth = advance(run, third)
        world.logs(east).create(SimulatedClusters.Both, 1)
        world.clock.pass(Duration.ofDays(2))
        val (last, _) = readUntil(world, run, fourth)(at => run.figures(at)(ProgressMetric.MissingTopics) == "0")
        assert(!run.figures(last).contains(ProgressMetric.MissingTopicNames))
      }
      assert(warnings.size == 2 && warnings.forall(w => w.contains("'s'") && w.contains(s"$east/both")), warnings)
    }
  }
}
