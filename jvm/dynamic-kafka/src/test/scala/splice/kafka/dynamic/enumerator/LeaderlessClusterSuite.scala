// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.enumerator

import java.time.Duration

import scala.util.Using

import splice.kafka.dynamic.split.DynamicOffset
import splice.source._

/** Partitions of a cluster that have no leader while other partitions of the cluster have one. */
final class LeaderlessClusterSuite extends RemovedTopics {

  /** Two clusters of two partitions each, of which the last one has no leader after its first three records were read. */
  private def leaderless(options: (String, String)*)(
      use: (SimulatedClusters, SplitEnumerator[DynamicOffset], DynamicOffset) => Unit
  ): Unit = {
    val world = new SimulatedClusters(2, 1, 2, Seq("discoveryInterval" -> "5ms") ++ options: _*)
    world.publish(stream(east, west))
    write(world, 3)
    Using.resource(world.start()) { run =>
      val (first, _) = readUntil(world, run, run.start(StartPosition.Configured))(reads(west, 1, 3))
      world.logs(west).leaderless = Set(LogPartition(topic(west), 1))
      write(world, 2)
      use(world, run, first)
    }
  }

  private def write(world: SimulatedClusters, rows: Int): Unit = for {
    cluster <- Seq(east, west)
    p       <- Seq(0, 1)
  } world.logs(cluster).fill(topic(cluster), p, rows)

  test("the other partitions of the cluster are read, and later nothing is skipped") {
    leaderless() { (world, run, first) =>
      val (one, some) = readUntil(world, run, first)(at => reads(east, 1, 5)(at) && reads(west, 0, 5)(at))
      assert(some.sorted == (all(east, 5) ++ all(east, 5, 1) ++ all(west, 5)).filter(_._3 >= 3).sorted)
      world.logs(west).leaderless = Set.empty
      val (_, rest) = readUntil(world, run, one)(reads(west, 1, 5))
      assert(rest == all(west, 5, 1).drop(3))
    }
  }

  test("by default the query continues, and with onClusterUnavailable=fail it fails after the timeout") {
    Seq("wait" -> None, "fail" -> Some("SPLICE_DYNAMIC.CLUSTER_UNAVAILABLE")).foreach { case (policy, expected) =>
      leaderless("onClusterUnavailable" -> policy, "clusterTimeout" -> "5m") { (world, run, first) =>
        val one = advance(run, first)
        world.clock.pass(Duration.ofMinutes(6))
        val error =
          try {
            write(world, 1)
            val (_, more) = readUntil(world, run, one)(reads(west, 0, 6))
            assert(more.exists(row => row._1 == west && row._2 == 0))
            None
          } catch { case e: SpliceException => Some(e) }
        assert(error.map(_.getCondition) == expected && error.forall(_.getMessage.contains(s"${topic(west)}-1")))
      }
    }
  }
}
