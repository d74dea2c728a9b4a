// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.enumerator.drain

import java.time.{Duration, Instant}
import java.util.{Collection => JCollection, Map => JMap, Properties, Set => JSet}

import scala.jdk.CollectionConverters._
import scala.util.Using

import splice.kafka.Place
import splice.kafka.dynamic.Flip246MetadataService
import splice.kafka.dynamic.internal.enumerator.{SimulatedClusters, StoppedStreams}
import splice.kafka.dynamic.internal.split.{DynamicOffset, DynamicPosition}
import splice.source.{SplitEnumerator, StartPosition}

/** Tests of drains on unavailable clusters. */
final class DrainOutageSuite extends StoppedStreams {

  private val (west0, hours) = (reads(west, 0, 3) _, Duration.ofHours(3))

  /** Runs a query that has read both clusters. Cluster west then becomes unavailable with three unread rows, and is
    * removed.
    */
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

  /** Advances until this number of further requests to west have failed. */
  private def fail(
      world: SimulatedClusters,
      run: SplitEnumerator[DynamicOffset],
      from: DynamicOffset,
      requests: Int
  ): DynamicOffset = {
    val limit                       = Instant.now().plusSeconds(60)
    val ofWest                      = s""""$west":\\{[^}]*"failuresTotal":(\\d+)""".r.unanchored
    def failures(at: DynamicOffset) = run.figures(at).get("clusters").collect { case ofWest(n) => n.toInt }.getOrElse(0)
    val before                      = failures(from)
    Iterator.iterate(from) { at =>
      world.clock.pass(Duration.ofSeconds(10))
      assert(Instant.now().isBefore(limit), run.figures(at))
      advance(run, at)
    }.drop(1).find(failures(_) >= before + requests).get
  }

  private def isAbandoned(world: SimulatedClusters): Boolean = history(world).exists { case (event, names) =>
    event == "topicAbandoned" && names.exists(_.startsWith(s"$west/${topic(west)}: "))
  }

  test("a drain continues after one failed request before a batch that is longer than the timeout") {
    leaving() { (world, run, first) =>
      val at = fail(world, run, first, requests = 1)
      world.clock.pass(hours)
      world.logs(west).away = None
      assert(readUntil(world, run, at)(!_.clusters.contains(west))._2 == all(west, 6).drop(3))
    }
  }

  test("an abandoned topic whose end was never requested is reported with its offset and its last end") {
    val world = simulated("maxOffsetsPerTrigger" -> "2")
    world.publish(stream(east, west))
    fill(world, west, 6)
    Using.resource(world.start()) { run =>
      val start = run.start(StartPosition.Configured)
      val first = advance(run, start)
      assert(rows(run, start, first) == all(west, 2))
      world.logs(west).away = Some(_ => true)
      publish(world, stream(east))
      val failed = fail(world, run, first, requests = 3)
      world.clock.pass(hours)
      val (over, _) = readUntil(world, run, failed)(!_.clusters.contains(west))
      assert(run.figures(over).get("topicsAbandonedTotal").contains("1"))
      // The number remains after the topic returned and after a restart.
      world.logs(west).away = None
      publish(world, stream(east, west))
      val (back, _) = readUntil(world, run, over)(reads(west, 0, 6))
      Using.resource(world.start())(again => assert(again.figures(back)("topicsAbandonedTotal") == "1"))
      val lost = history(world).collect { case ("topicAbandoned", names) => names }.flatten
      assert(lost.exists(_.contains("is unknown (partition 0 from 2, last end 6), because")), lost)
    }
  }

  test("a drain continues after an outage of its inactive cluster, and after a late start of the cluster") {
    leaving() { (world, run, first) =>
      val failed = fail(world, run, first, requests = 3)
      world.inactive = Set(west)
      world.awaitRefresh()
      val waiting = advance(run, failed)
      world.clock.pass(hours)
      val still = advance(run, waiting)
      world.inactive = Set.empty
      world.awaitRefresh()
      val late = fail(world, run, still, requests = 3)
      world.logs(west).away = None
      assert(readUntil(world, run, late)(!_.clusters.contains(west))._2 == all(west, 6).drop(3))
    }
  }

  /** Service that lists one stream with the topic of one cluster. */
  final private class Inventory(at: String, isActive: String => Boolean) extends Flip246MetadataService {
    @volatile var cluster: String = at

    override def getAllStreams(): JSet[Flip246MetadataService.Stream] = {
      val properties = new Properties
      properties.setProperty("bootstrap.servers", s"$cluster:9092")
      val part = Flip246MetadataService.Cluster(Set(topic(cluster)).asJava, properties)
      Set(Flip246MetadataService.Stream("s", Map(cluster -> part).asJava)).asJava
    }
    override def describeStreams(ids: JCollection[String]): JMap[String, Flip246MetadataService.Stream] =
      getAllStreams().asScala.map(stream => stream.id -> stream).toMap.asJava
    override def isClusterActive(cluster: String): Boolean = isActive(cluster)
  }

  test("a restart keeps a cluster inactive that the streams of a FLIP-246 service no longer contain") {
    val world                 = simulated()
    @volatile var inactive    = Set.empty[String]
    def inventory(at: String) = new Inventory(at, name => !inactive(name))
    fill(world, west, 3)
    val first = inventory(west)
    val moved = Using.resource(world.start(service = Some(first))) { run =>
      val (at, _) = readUntil(world, run, world.begin(StartPosition.Configured, run))(west0)
      inactive = Set(west)
      val (closed, _) = readUntil(world, run, at)(_.change > 0)
      fill(world, west, 3)
      first.cluster = east
      readUntil(world, run, closed)(_.change > 1)._1
    }
    // A new service object does not know the earlier streams, and may not know the earlier clusters.
    @volatile var known = Set.empty[String]
    def again           = new Inventory(east, name => known(name) && !inactive(name) || name == east || unknown(name))
    def unknown(name: String) = if (known(name)) false else throw new IllegalStateException(s"no cluster $name")
    Using.resource(world.start(service = Some(again))) { run =>
      val waiting = advance(run, moved)
      world.clock.pass(hours)
      val still = advance(run, waiting)
      assert(!history(world).exists(_._1 == "clusterActivated"), history(world))
      inactive = Set.empty
      known = Set(west)
      assert(readUntil(world, run, still)(!_.clusters.contains(west))._2 == all(west, 6).drop(3))
    }
  }

  test("an outage before the time of a cutover abandons no row, and an outage after the time does") {
    val world = simulated()
    world.publish(stream(west))
    fill(world, west, 3)
    Using.resource(world.start()) { run =>
      val (first, _) = readUntil(world, run, run.start(StartPosition.Configured))(west0)
      publish(world, stream(east).copy(cutover = Some(Place.At(world.clock.instant().plus(hours)))))
      val (moving, _) = readUntil(world, run, first)(_.change > 0)
      world.logs(west).away = Some(_ => true)
      val noted = advance(run, fail(world, run, moving, requests = 3))
      world.clock.pass(Duration.ofHours(2))
      val failed = fail(world, run, noted, requests = 4)
      world.logs(west).away = None
      fill(world, west, 2)
      val (read, rows) = readUntil(world, run, failed)(reads(west, 0, 5))
      assert(rows == all(west, 5).drop(3))
      world.logs(west).away = Some(_ => true)
      world.clock.pass(hours)
      val again = advance(run, fail(world, run, read, requests = 3))
      world.clock.pass(Duration.ofHours(2))
      val _ = readUntil(world, run, again)(!_.clusters.contains(west))
      assert(isAbandoned(world))
    }
  }

  test("a drain is abandoned if its cluster does not respond for the timeout, including across restarts") {
    leaving() { (world, run, first) =>
      val at = fail(world, run, first, requests = 3)
      // The next trigger persists the outage.
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

  test("a stream that returns by offsets to a topic whose drain has ended begins at these offsets, also in a replay") {
    val world = simulated("maxOffsetsPerTrigger" -> "3")
    world.publish(stream(west))
    fill(world, west, 5)
    fill(world, east, 4)
    Using.resource(world.start()) { run =>
      val (first, _) = readUntil(world, run, run.start(StartPosition.Configured))(west0)
      world.logs(west).away = Some(_ => true)
      publish(world, stream(east).copy(cutover = Some(offsets(west -> 5, east -> 0))))
      val (second, moved) = readUntil(world, run, first)(reads(east, 0, 4))
      assert(moved == all(east, 4))
      // The document is rejected until the drain ends.
      publish(world, stream(west).copy(cutover = Some(offsets(west -> 20, east -> 4))))
      val third = advance(run, second)
      assert(rows(run, second, third).isEmpty && run.figures(third)("waitingGroups").contains("is still drain"))
      fill(world, west, 18)
      world.logs(west).away = None
      val (end, rest) = readUntil(world, run, third)(reads(west, 0, 23))
      val expected    = all(west, 23).filterNot { case (_, _, offset) => offset < 3 || offset >= 5 && offset < 20 }
      assert(rest == expected)
      Using.resource(world.start()) { again =>
        again.replay(first, end)
        assert(rows(again, first, end).sorted == (all(east, 4) ++ expected).sorted)
      }
    }
  }
}
