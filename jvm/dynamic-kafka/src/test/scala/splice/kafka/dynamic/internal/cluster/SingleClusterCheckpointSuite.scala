// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.cluster

import scala.util.Using

import splice.kafka.dynamic.internal.enumerator.RemovedTopics
import splice.source.errors.SpliceException

/** Tests of checkpoints that a source of one cluster began. */
final class SingleClusterCheckpointSuite extends RemovedTopics {

  /** Offset of a source of one cluster. */
  private val begun = s"""{"${topic(east)}":{"0":2}}"""

  test("the offsets of a source of one cluster belong to the cluster of the metadata, which may add clusters later") {
    val world = simulated()
    fill(world, east, 5)
    fill(world, west, 3)
    val end = Using.resource(world.start()) { run =>
      val (read, some) = readUntil(world, run, world.source.position(begun))(reads(east, 0, 5))
      assert(some == all(east, 5).drop(2))
      read
    }
    world.publish(stream(east, west))
    Using.resource(world.start()) { run =>
      assert(run.splits(world.source.position(begun), end).map(r => r.splitId -> r.weight) ==
        Seq(s"$east/${topic(east)}-0" -> 3L))
      val (_, rest) = readUntil(world, run, world.source.position(end.json))(reads(west, 0, 3))
      assert(rest == all(west, 3))
    }
  }

  test("metadata with several clusters does not support the offsets of a source of one cluster") {
    val world = simulated()
    world.publish(stream(east, west))
    fill(world, east, 5)
    Using.resource(world.start()) { run =>
      val error = intercept[SpliceException](advance(run, world.source.position(begun)))
      assert(error.getCondition == "SPLICE_DYNAMIC_KAFKA.TAKEOVER_NOT_SUPPORTED", error)
      assert(error.getMessage.contains(s"Clusters in the metadata: $east, $west."), error)
    }
    assert(world.side.keys("takeover").isEmpty)
  }

  test("after the error for several clusters, metadata with one cluster continues on the same checkpoint") {
    val world = simulated()
    world.publish(stream(east, west))
    fill(world, east, 5)
    Using.resource(world.start())(run => intercept[SpliceException](advance(run, world.source.position(begun))))
    world.publish(stream(east))
    Using.resource(world.start()) { run =>
      val (_, rest) = readUntil(world, run, world.source.position(begun))(reads(east, 0, 5))
      assert(rest == all(east, 5).drop(2))
    }
  }
}
