// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.enumerator.document

import java.time.Instant

import scala.collection.immutable.SortedMap
import scala.util.Using

import splice.kafka.dynamic.internal.change.{ChangeRules, OnRemoved, RemovalRules, StreamsAt}
import splice.kafka.dynamic.internal.enumerator.{RemovedTopics, SimulatedClusters}
import splice.kafka.dynamic.internal.split.DynamicOffset
import splice.kafka.dynamic.internal.state.{AppliedMetadata, ChangeEntries, ChangeHistory}
import splice.kafka.dynamic.{KafkaCluster, StreamMetadata}
import splice.source.{SplitEnumerator, StartPosition}

/** Tests of clusters that the metadata sets inactive and active. */
final class ActiveClustersSuite extends RemovedTopics {

  private def deactivate(world: SimulatedClusters, names: String*): Unit = {
    world.inactive = names.toSet
    world.awaitRefresh()
  }

  /** Reads two rows of each of two clusters, then calls `use`. */
  private def read(use: (SimulatedClusters, SplitEnumerator[DynamicOffset], DynamicOffset) => Unit): Unit = {
    val world = simulated()
    world.publish(stream(east, west))
    write(world, 2)
    Using.resource(world.start()) { run =>
      val both = readUntil(world, run, run.start(StartPosition.Configured))(at =>
        reads(east, 0, 2)(at) && reads(west, 0, 2)(at)
      )
      use(world, run, both._1)
    }
  }

  private def write(world: SimulatedClusters, rows: Int): Unit = Seq(east, west).foreach(fill(world, _, rows))

  test("a change of only active is an entry of the history, and keeps the enumerators of active clusters") {
    read { (world, run, first) =>
      val before = world.enumerators.get
      deactivate(world, west)
      write(world, 1)
      val (second, some) = readAll(run, first)
      assert(some == Seq((east, 0, 2L)))
      deactivate(world)
      val (_, rest) = readAll(run, second)
      assert(rest == Seq((west, 0, 2L)) && world.enumerators.get == before + 1)
      val events = ChangeHistory(world.side).map(event => event.event -> event.names).takeRight(2)
      assert(events == Seq("clusterDeactivated" -> Seq(west), "clusterActivated" -> Seq(west)))
    }
  }

  test("a rejected document sets no cluster inactive") {
    read { (world, run, first) =>
      world.publish()
      deactivate(world, west)
      write(world, 1)
      val (second, rows) = readAll(run, first)
      assert(rows.sorted == Seq((east, 0, 2L), (west, 0, 2L)) && run.figures(second)("metadataRejectionsTotal") == "1")
    }
  }

  test("a rejected document changes no property of a cluster, including at a restart") {
    read { (world, run, first) =>
      val known = KafkaCluster(east, SortedMap("bootstrap.servers" -> s"$west:9092"))
      world.publish(StreamMetadata(Some(9L), SortedMap(east -> known), SortedMap.empty))
      world.awaitRefresh()
      val before = world.enumerators.get
      write(world, 1)
      val (second, rows) = readAll(run, first)
      assert(rows.sorted == Seq((east, 0, 2L), (west, 0, 2L)) && world.enumerators.get == before)
      write(world, 1)
      Using.resource(world.start()) { again =>
        assert(readAll(again, world.source.position(second.json))._2.sorted == Seq((east, 0, 3L), (west, 0, 3L)))
      }
    }
  }

  test("a cluster remains inactive across a restart while the metadata service is unavailable") {
    read { (world, run, first) =>
      deactivate(world, west)
      val (second, _) = readAll(run, first)
      world.inactive = Set.empty
      world.unavailable = true
      write(world, 1)
      Using.resource(world.start()) { again =>
        assert(readAll(again, world.source.position(second.json))._2 == Seq((east, 0, 2L)))
      }
    }
  }

  test("a cluster without streams uses properties and active of the metadata during its drain") {
    val rules = new ChangeRules(RemovalRules(OnRemoved.Drain, maxFraction = 1.0))
    def took(found: StreamMetadata, from: AppliedMetadata) =
      rules.take(from, found, _ => true, StreamsAt.at(from.number, "a/x" -> 1), Instant.EPOCH, Instant.EPOCH)
    val moved                     = StreamsAt.metadata(2, "b/x")
    val drained                   = took(moved, StreamsAt.applied("a/x"))
    def of(cluster: KafkaCluster) = moved.copy(clusters = moved.clusters + ("a" -> cluster)).only(Set("s"))
    val renewed                   = KafkaCluster("a", SortedMap("bootstrap.servers" -> "other:9092"), active = false)
    assert(drained.equalsDocument(moved) && !drained.equalsDocument(of(renewed)))
    val last = took(of(renewed), drained)
    assert(last.clusters("a") == renewed && last.draining.contains(StreamsAt.topic("a/x")))
    assert(took(moved, last).isActive("a"))
  }

  test("the entry of a change stores the inactive clusters") {
    val world    = simulated()
    val clusters = Seq(east -> true, west -> false).map { case (name, active) =>
      name -> KafkaCluster(name, SortedMap("bootstrap.servers" -> s"$name:9092"), active)
    }
    val written = AppliedMetadata(0, Some(1), SortedMap.from(clusters), SortedMap.empty, SortedMap.empty)
    new ChangeEntries(world.side).append(written)
    assert(new ChangeEntries(world.side).last.exists(_.clusters == written.clusters))
  }
}
