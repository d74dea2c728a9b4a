// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.enumerator

import java.time.{Duration, Instant}
import java.util.concurrent.CountDownLatch

import scala.collection.immutable.{SortedMap, SortedSet}
import scala.util.Using

import org.scalatest.funsuite.AnyFunSuite

import splice.kafka.dynamic.KafkaStream
import splice.kafka.dynamic.split.{DynamicOffset, DynamicPosition, DynamicSplitRange}
import splice.kafka.enumerator.SimulatedLog
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

  private def advance(run: SplitEnumerator[DynamicOffset], from: DynamicOffset): DynamicOffset =
    run.advance(from, run.limits(from))

  /** The rows of a range of positions: cluster, partition and offset. */
  private def rows(
      run: SplitEnumerator[DynamicOffset],
      from: DynamicOffset,
      until: DynamicOffset
  ): Seq[(String, Int, Long)] =
    run.splits(from, until).collect { case r: DynamicSplitRange =>
      (r.range.from until r.range.until).map((r.cluster.name, r.range.partition.partition, _))
    }.flatten

  /** Reads until nothing is left. */
  private def readAll(
      run: SplitEnumerator[DynamicOffset],
      from: DynamicOffset
  ): (DynamicOffset, Seq[(String, Int, Long)]) = {
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
  private def readUntil(world: SimulatedClusters, run: SplitEnumerator[DynamicOffset], from: DynamicOffset)(
      isEnd: DynamicPosition => Boolean
  ): (DynamicOffset, Seq[(String, Int, Long)]) = {
    val limit  = Instant.now().plusSeconds(60)
    val states = Iterator.iterate(from -> Seq.empty[(String, Int, Long)]) { case (at, read) =>
      assert(Instant.now().isBefore(limit), s"no end at ${at.json}")
      // A request that failed is repeated after a pause.
      world.clock.pass(Duration.ofSeconds(1))
      val next = advance(run, at)
      next -> (read ++ rows(run, at, next))
    }
    states.drop(1).find(_._1 match {
      case position: DynamicPosition => isEnd(position)
      case _                         => false
    }).get
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
        val (end, rest) = readAll(run, world.source.position(at.json))
        assert(rest == all(west, 3) && readAll(run, end)._2.isEmpty)
      }
    }
  }

  test("a response to a request that was sent before the removal does not decide where a drain ends") {
    val world = simulated("clusterWait" -> "100ms")
    world.publish(stream(east, west))
    fill(world, east, 5)
    Using.resource(world.start()) { run =>
      val (first, _) = readUntil(world, run, run.start(StartPosition.Configured))(reads(east, 0, 5))
      val late       = new CountDownLatch(1)
      world.logs(east).between = what => if (what == "ends") late.await()
      assert(advance(run, first) == first)
      fill(world, east, 7)
      world.publish(stream(west))
      world.awaitRefresh()
      world.logs(east).between = _ => ()
      late.countDown()
      val (_, rest) = readUntil(world, run, first)(!_.clusters.contains(east))
      assert(rest == all(east, 12).drop(5))
    }
  }

  test("a partition that was created shortly before the removal is drained") {
    val world = simulated()
    world.publish(stream(east, west))
    fill(world, east, 5)
    Using.resource(world.start()) { run =>
      val (first, _) = readUntil(world, run, run.start(StartPosition.Configured))(reads(east, 0, 5))
      world.logs(east).create(topic(east), 2)
      world.logs(east).fill(topic(east), 1, 3)
      world.publish(stream(west))
      world.awaitRefresh()
      val (_, rest) = readUntil(world, run, first)(!_.clusters.contains(east))
      assert(rest == all(east, 3, partition = 1))
    }
  }

  private val (west0, hours) = (reads(west, 0, 3) _, Duration.ofHours(3))

  /** A run that has read both clusters, and west of which has become unavailable with three rows left before its removal. */
  private def leaving(options: (
      String,
      String
  )*)(use: (SimulatedClusters, SplitEnumerator[DynamicOffset], DynamicOffset) => Unit): Unit = {
    val world = simulated(options: _*)
    world.publish(stream(east, west))
    fill(world, west, 3)
    Using.resource(world.start()) { run =>
      val (first, _) = readUntil(world, run, run.start(StartPosition.Configured))(west0)
      fill(world, west, 3)
      world.logs(west).away = Some(_ => true)
      world.publish(stream(east))
      world.awaitRefresh()
      use(world, run, first)
    }
  }

  /** Advances until this number of requests to west have failed in a row. */
  private def fail(
      world: SimulatedClusters,
      run: SplitEnumerator[DynamicOffset],
      from: DynamicOffset,
      requests: Int
  ): DynamicOffset = {
    val limit    = Instant.now().plusSeconds(60)
    def failures =
      run.figures(
        _: DynamicOffset
      ).get("clusters").exists(_.matches(s""".*"$west":\\{[^}]*"failures":$requests[,}].*"""))
    Iterator.iterate(from) { at =>
      world.clock.pass(Duration.ofSeconds(10))
      assert(Instant.now().isBefore(limit), run.figures(at))
      advance(run, at)
    }.drop(1).find(failures).get
  }

  test("a drain survives one failed request before a batch that is longer than the timeout") {
    leaving() { (world, run, first) =>
      val at = fail(world, run, first, requests = 1)
      world.clock.pass(hours)
      world.logs(west).away = None
      assert(readUntil(world, run, at)(!_.clusters.contains(west))._2 == all(west, 6).drop(3))
    }
  }

  test("a drain survives an outage while its cluster is not active, and a late start of the cluster") {
    leaving() { (world, run, first) =>
      val failed = fail(world, run, first, requests = 3)
      world.inactive = Set(west)
      val waiting = advance(run, failed)
      world.clock.pass(hours)
      val still = advance(run, waiting)
      world.inactive = Set.empty
      val late = fail(world, run, still, requests = 3)
      world.logs(west).away = None
      assert(readUntil(world, run, late)(!_.clusters.contains(west))._2 == all(west, 6).drop(3))
    }
  }

  test("a drain is abandoned if its cluster does not respond for the timeout, including across restarts") {
    leaving() { (world, run, first) =>
      val at = fail(world, run, first, requests = 3)
      // The outage is persisted by the next trigger.
      val noted = advance(run, at)
      world.clock.pass(Duration.ofMinutes(50))
      val again = Using.resource(world.start())(fail(world, _, noted, requests = 3))
      assert(DynamicPosition.read(again.json) == again)
      world.clock.pass(Duration.ofMinutes(20))
      Using.resource(world.start()) { last =>
        val end = fail(world, last, again, requests = 3)
        assert(end.json.contains(west) && !advance(last, end).json.contains(west))
      }
    }
  }

  test("the offsets of a cluster are committed to the group up to the end of its last drain") {
    val world = simulated("commitToGroup" -> "true", "kafka.group.id" -> "g")
    world.publish(stream(east, west))
    fill(world, west, 3)
    Using.resource(world.start()) { run =>
      val (first, _) = readUntil(world, run, run.start(StartPosition.Configured))(reads(west, 0, 3))
      fill(world, west, 4)
      world.publish(stream(east))
      world.awaitRefresh()
      val drained = advance(run, first)
      run.committed(first)
      assert(!advance(run, drained).json.contains(west))
      run.committed(drained)
      assert(world.logs(west).commits.lastOption.contains(Map(LogPartition(topic(west), 0) -> 7L)))
    }
  }

  test("a drain ends if its topic is deleted or recreated, and the next topic of the stream is read") {
    Seq[SimulatedLog => Unit](
      _.delete(topic(east)),
      { log =>
        log.delete(topic(east))
        log.create(topic(east), 1)
        log.fill(topic(east), 0, 9)
      }
    ).foreach { lose =>
      Seq("drop", "drain").foreach { removed =>
        val world = simulated(
          "cutover"              -> "stream",
          "maxOffsetsPerTrigger" -> "1",
          "failOnDataLoss"       -> "false",
          "onTopicRemoved"       -> removed,
          "onTopicRecreated"     -> "restart"
        )
        fill(world, east, 5)
        fill(world, west, 3)
        Using.resource(world.start()) { run =>
          val first = advance(run, run.start(StartPosition.Configured))
          world.publish(stream(west))
          world.awaitRefresh()
          val moved = advance(run, first)
          lose(world.logs(east))
          // Simulated clusters refresh their partitions once per day.
          world.clock.pass(Duration.ofDays(1))
          val (end, rest) = readUntil(world, run, moved)(at => reads(west, 0, 3)(at) && !at.clusters.contains(east))
          assert(rest == all(west, 3) && advance(run, end) == end)
        }
      }
    }
  }
}
