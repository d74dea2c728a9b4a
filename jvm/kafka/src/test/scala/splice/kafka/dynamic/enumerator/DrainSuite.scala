// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.enumerator

import java.time.Instant
import java.util.concurrent.CountDownLatch

import scala.collection.immutable.{SortedMap, SortedSet}
import scala.util.Using

import org.scalatest.funsuite.AnyFunSuite

import splice.kafka.dynamic.KafkaStream
import splice.kafka.dynamic.split.{DynamicPosition, DynamicSplitRange}
import splice.source._

/** Removed topics are read to their ends. */
final class DrainSuite extends AnyFunSuite {

  private val (east, west) = ("cluster-000", "cluster-001")

  private def topic(cluster: String): String = s"$cluster-topic-000"

  private def stream(clusters: String*): KafkaStream =
    KafkaStream("s", SortedMap.from(clusters.map(c => c -> SortedSet(topic(c)))))

  private def simulated(options: (String, String)*): SimulatedClusters = {
    val made =
      new SimulatedClusters(2, 1, 1, Seq("discoveryInterval" -> "5ms", "maxRemovalFraction" -> "1") ++ options: _*)
    made.publish(stream(east))
    made
  }

  private def fill(world: SimulatedClusters, cluster: String, rows: Int): Unit =
    world.logs(cluster).fill(topic(cluster), 0, rows)

  private def advance(run: SplitEnumerator, from: Progress): Progress = run.advance(from, run.limits(from))

  /** The rows of a range of positions: cluster, partition and offset. */
  private def rows(run: SplitEnumerator, from: Progress, until: Progress): Seq[(String, Int, Long)] =
    run.splits(from, until).collect { case r: DynamicSplitRange =>
      (r.range.from until r.range.until).map((r.cluster.name, r.range.partition.partition, _))
    }.flatten

  /** Reads until nothing is left. */
  private def readAll(run: SplitEnumerator, from: Progress): (Progress, Seq[(String, Int, Long)]) = {
    val next = advance(run, from)
    if (next.json == from.json) from -> Nil
    else {
      val (end, more) = readAll(run, next)
      end -> (rows(run, from, next) ++ more)
    }
  }

  private def all(cluster: String, count: Int, partition: Int = 0): Seq[(String, Int, Long)] = (0 until count).map(i =>
    (cluster, partition, i.toLong)
  )

  /** Reads until the position fulfils a condition. */
  private def readUntil(run: SplitEnumerator, from: Progress, limit: Instant = Instant.now().plusSeconds(60))(
      isEnd: DynamicPosition => Boolean
  ): (Progress, Seq[(String, Int, Long)]) = {
    assert(Instant.now().isBefore(limit), s"no end at ${from.json}")
    val next       = advance(run, from)
    val some       = rows(run, from, next)
    val position   = Option(next).collect { case p: DynamicPosition => p }.get
    val (at, more) = if (isEnd(position)) next -> Nil else readUntil(run, next, limit)(isEnd)
    at -> (some ++ more)
  }

  private def reads(cluster: String, partition: Int, end: Long)(at: DynamicPosition): Boolean =
    at.of(cluster).get(LogPartition(topic(cluster), partition)).contains(end)

  test("a topic that is held by a cutover is drained if the move is taken back") {
    val world = simulated("cutover" -> "stream", "maxOffsetsPerTrigger" -> "1")
    fill(world, east, 5)
    fill(world, west, 3)
    Using.resource(world.start()) { run =>
      val start = run.start(StartPosition.Configured)
      val first = advance(run, start)
      world.publish(stream(west))
      world.awaitRefresh()
      val moved = advance(run, first)
      assert(rows(run, first, moved).forall(_._1 == east))
      world.publish(stream(east))
      world.awaitRefresh()
      val (_, rest) = readAll(run, moved)
      val read      = rows(run, start, first) ++ rows(run, first, moved) ++ rest
      assert(read.sorted == all(east, 5) ++ all(west, 3))
    }
  }

  test(
    "a topic that is removed while its cluster is not active, or unavailable, is drained later, including after a restart"
  ) {
    Seq[(SimulatedClusters => Unit, SimulatedClusters => Unit)](
      (_.inactive = Set(west), _.inactive = Set.empty),
      (_.logs(west).away = Some(_ => true), _.logs(west).away = None)
    ).foreach { case (leave, comeBack) =>
      val world = simulated()
      fill(world, east, 5)
      fill(world, west, 3)
      leave(world)
      val at = Using.resource(world.start()) { run =>
        val (first, _) = readAll(run, run.start(StartPosition.Configured))
        world.publish(stream(east, west))
        world.awaitRefresh()
        val (second, none) = readAll(run, first)
        assert(none.isEmpty)
        world.publish(stream(east))
        world.awaitRefresh()
        readAll(run, second)._1
      }
      comeBack(world)
      Using.resource(world.start()) { run =>
        val (end, rest) = readAll(run, world.source.progress(at.json))
        assert(rest == all(west, 3) && readAll(run, end)._2.isEmpty)
      }
    }
  }

  test("a response to a request that was sent before the removal does not decide where a drain ends") {
    val world = simulated("clusterWait" -> "100ms")
    world.publish(stream(east, west))
    fill(world, east, 5)
    Using.resource(world.start()) { run =>
      val (first, _) = readUntil(run, run.start(StartPosition.Configured))(reads(east, 0, 5))
      val late       = new CountDownLatch(1)
      world.logs(east).between = what => if (what == "ends") late.await()
      assert(advance(run, first) == first)
      fill(world, east, 7)
      world.publish(stream(west))
      world.awaitRefresh()
      world.logs(east).between = _ => ()
      late.countDown()
      val (_, rest) = readUntil(run, first)(!_.clusters.contains(east))
      assert(rest == all(east, 12).drop(5))
    }
  }

  test("a partition that was created shortly before the removal is drained") {
    val world = simulated()
    world.publish(stream(east, west))
    fill(world, east, 5)
    Using.resource(world.start()) { run =>
      val (first, _) = readUntil(run, run.start(StartPosition.Configured))(reads(east, 0, 5))
      world.logs(east).create(topic(east), 2)
      world.logs(east).fill(topic(east), 1, 3)
      world.publish(stream(west))
      world.awaitRefresh()
      val (_, rest) = readUntil(run, first)(!_.clusters.contains(east))
      assert(rest == all(east, 3, partition = 1))
    }
  }
}
