// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.enumerator.outage

import java.time.Duration

import scala.collection.immutable.SortedSet
import scala.util.Using

import splice.kafka.dynamic.internal.enumerator.{SimulatedClusters, TwoClusters}
import splice.kafka.internal.cluster.BackgroundDiscovery
import splice.kafka.internal.enumerator.SimulatedLog
import splice.kafka.internal.options.Subscription
import splice.source.StartPosition
import splice.testkit.internal.Patient

/** Tests of failed topic requests while other requests to the cluster succeed. */
final class DiscoveryOutageSuite extends TwoClusters {

  test("a cluster whose topics cannot be requested is read until clusterTimeout, and is unavailable afterwards") {
    val world = new SimulatedClusters(2, 1, 1, "clusterTimeout" -> "5m")
    // A separate thread requests topics, so the test uses a copy of the log.
    val topics       = new SimulatedLog(Subscription.Topics(SortedSet(topic(west))))
    val inBackground = new BackgroundDiscovery(topics, Duration.ofMillis(5), world.clock, "test")
    topics.clusterId = world.logs(west).clusterId
    topics.create(topic(west), 1)
    val others = world.discovery
    world.discovery = name => if (name == west) inBackground else others(name)
    world.write()
    Using.resource(world.start()) { run =>
      val first = advance(run, run.start(StartPosition.Configured))
      topics.away = Some(_ == "describe")
      Patient.until("a request fails")(inBackground.health.failing.nonEmpty)
      world.clock.pass(Duration.ofSeconds(30))
      world.write()
      val second = advance(run, first)
      assert(run.splits(first, second).map(_.splitId).toSet ==
        Set(s"$east/${topic(east)}-0", s"$west/${topic(west)}-0"))
      world.clock.pass(Duration.ofMinutes(5))
      // Only a request that fails after the timeout counts.
      val failures = inBackground.health.failures
      Patient.until("a later request fails")(inBackground.health.failures > failures)
      world.write()
      val third = advance(run, second)
      assert(run.splits(second, third).map(_.splitId) == Seq(s"$east/${topic(east)}-0"))
    }
  }
}
