// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.enumerator

import scala.annotation.tailrec
import scala.collection.immutable.SortedMap
import scala.util.Using

import splice.kafka.dynamic.internal.split.DynamicOffset
import splice.kafka.dynamic.internal.state.ChangeHistory
import splice.kafka.dynamic.{KafkaCluster, StreamMetadata}
import splice.source.{Limits, SplitEnumerator, StartPosition}

/** Tests of limits of single clusters, from options and from the metadata. */
final class ClusterLimitSuite extends RemovedTopics {

  private def document(generation: Long, offsets: Option[Long], bytes: Option[Long] = None): StreamMetadata = {
    val clusters = Seq(east, west).map(name => KafkaCluster(name, SortedMap("bootstrap.servers" -> s"$name:9092")))
    StreamMetadata(
      Some(generation),
      SortedMap.from(clusters.map {
        case own if own.name == east => east     -> own.copy(maxOffsetsPerTrigger = offsets, maxBytesPerTrigger = bytes)
        case own                     => own.name -> own
      }),
      SortedMap("s" -> stream(east, west))
    )
  }

  private def world(limit: Option[Long], options: (String, String)*): SimulatedClusters = {
    val created = simulated(options: _*)
    created.publish(document(1, limit))
    Seq(east, west).foreach(fill(created, _, 10))
    created
  }

  /** Number of rows per batch of each cluster, until no rows remain. */
  @tailrec private def batches(
      run: SplitEnumerator[DynamicOffset],
      from: DynamicOffset,
      before: Seq[(Int, Int)] = Nil
  ): (DynamicOffset, Seq[(Int, Int)]) = {
    val next = advance(run, from)
    if (next.json == from.json) from -> before
    else {
      val read = rows(run, from, next).map(_._1)
      batches(run, next, before :+ (read.count(_ == east) -> read.count(_ == west)))
    }
  }

  private def all(world: SimulatedClusters): Seq[(Int, Int)] =
    Using.resource(world.start())(run => batches(run, run.start(StartPosition.Configured))._2)

  test("an option limits one cluster, and the other clusters are not affected") {
    assert(all(world(None, s"cluster.$east.maxOffsetsPerTrigger" -> "4")) == Seq(4 -> 10, 4 -> 0, 2 -> 0))
  }

  test("the metadata limits a cluster, and the option of the query takes precedence") {
    assert(all(world(Some(7))) == Seq(7 -> 10, 3 -> 0))
    assert(all(world(Some(7), s"cluster.$east.maxOffsetsPerTrigger" -> "4")) == Seq(4 -> 10, 4 -> 0, 2 -> 0))
  }

  test("the unused share of a limited cluster is available to the other clusters") {
    assert(all(world(Some(2), "maxOffsetsPerTrigger" -> "8")) == Seq(2 -> 6, 2 -> 4, 2 -> 0, 2 -> 0, 2 -> 0))
  }

  test("a limit in bytes that is smaller than a record makes progress") {
    val small = simulated()
    small.publish(document(1, None, bytes = Some(1)))
    Seq(east, west).foreach(fill(small, _, 3))
    assert(all(small) == Seq(1 -> 3, 1 -> 0, 1 -> 0))
  }

  test("AvailableNow reads the rows of its start in batches that are within the limit") {
    val own = world(Some(4))
    Using.resource(own.start()) { run =>
      run.freeze()
      val first = run.start(StartPosition.Configured)
      val next  = advance(run, first)
      Seq(east, west).foreach(fill(own, _, 5))
      assert(rows(run, first, next).count(_._1 == east) == 4 && batches(run, next)._2 == Seq(4 -> 0, 2 -> 0))
    }
  }

  test("a batch of all available data has no limits") {
    val own = world(Some(4), "maxOffsetsPerTrigger" -> "8")
    Using.resource(own.start()) { run =>
      val first = run.start(StartPosition.Configured)
      assert(rows(run, first, run.advance(first, Limits.Everything)).size == 20)
    }
  }

  test("a minimum of the query above the limit of a cluster is not a conflict") {
    val own = world(None, "minOffsetsPerTrigger" -> "15", s"cluster.$east.maxOffsetsPerTrigger" -> "4")
    assert(all(own) == Seq(4 -> 10))
  }

  test("a changed limit applies from the next batch on, including after a restart, and keeps the enumerators") {
    val own   = world(Some(4))
    val after = Using.resource(own.start()) { run =>
      val first   = run.start(StartPosition.Configured)
      val second  = advance(run, first)
      val started = own.enumerators.get
      assert(rows(run, first, second).count(_._1 == east) == 4)
      own.publish(document(2, Some(1)))
      own.awaitRefresh()
      val third = advance(run, second)
      assert(rows(run, second, third).map(_._1) == Seq(east) && own.enumerators.get == started)
      third
    }
    assert(ChangeHistory(own.side).map(e => e.event -> e.names).lastOption.contains("clusterLimited" ->
      Seq(east)))
    own.unavailable = true
    Using.resource(own.start()) { run =>
      assert(batches(run, own.source.position(after.json))._2 == Seq.fill(5)(1 -> 0))
    }
    own.unavailable = false
    own.publish(document(3, None))
    Using.resource(own.start()) { run =>
      assert(batches(run, own.source.position(after.json))._2 == Seq(5 -> 0))
    }
  }
}
