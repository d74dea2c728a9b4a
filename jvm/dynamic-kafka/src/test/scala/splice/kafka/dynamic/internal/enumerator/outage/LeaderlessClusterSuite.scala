// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.enumerator.outage

import java.time.Duration
import java.util.concurrent.atomic.AtomicInteger

import scala.collection.immutable.{SortedMap, SortedSet}
import scala.util.Using

import splice.kafka.Place
import splice.kafka.dynamic.KafkaStream
import splice.kafka.dynamic.internal.enumerator.{RemovedTopics, SimulatedClusters}
import splice.kafka.dynamic.internal.split.{ClusterTopic, DynamicOffset}
import splice.kafka.dynamic.internal.state.ChangeEntries
import splice.kafka.internal.enumerator.SimulatedLog
import splice.kafka.internal.options.Subscription
import splice.source.errors.SpliceException
import splice.source.runtime.ProgressMetric
import splice.source.{Limits, LogPartition, SplitEnumerator, StartPosition}

/** Tests of partitions without a leader next to other partitions of the same cluster. */
final class LeaderlessClusterSuite extends RemovedTopics {

  /** Two clusters with two partitions each. The last partition loses its leader after its first three records were
    * read.
    */
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

  test("the other partitions of the cluster are read, and later no row is skipped") {
    leaderless() { (world, run, first) =>
      val (one, some) = readUntil(world, run, first)(at => reads(east, 1, 5)(at) && reads(west, 0, 5)(at))
      assert(some.sorted == (all(east, 5) ++ all(east, 5, 1) ++ all(west, 5)).filter(_._3 >= 3).sorted)
      world.logs(west).leaderless = Set.empty
      val (_, rest) = readUntil(world, run, one)(reads(west, 1, 5))
      assert(rest == all(west, 5, 1).drop(3))
    }
  }

  test("by default the query continues, and with onClusterUnavailable=fail it fails after the timeout") {
    Seq("wait" -> None, "fail" -> Some("SPLICE_KAFKA_CONNECTION.CLUSTER_UNAVAILABLE")).foreach {
      case (policy, expected) =>
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

  test("a run of one batch waits for each cluster and each partition, and fails after the timeout") {
    Seq[SimulatedLog => Unit](_.leaderless = Set(LogPartition(topic(west), 1)), _.away = Some(_ => true)).foreach {
      fail =>
        val world = new SimulatedClusters(2, 1, 2, "clusterTimeout" -> "1min", "fetchOffset.retryIntervalMs" -> "0")
        world.publish(stream(east, west))
        write(world, 3)
        val start = Using.resource(world.start())(world.begin(StartPosition.Configured, _)).json
        fail(world.logs(west))
        val own                                                                   = Thread.currentThread
        val turns                                                                 = new AtomicInteger
        def once[A](timeout: String)(use: SplitEnumerator[DynamicOffset] => A): A =
          Using.resource(world.start(changed = Seq("clusterTimeout" -> timeout))) { run =>
            run.freeze()
            use(run)
          }
        world.clock.read = () =>
          if (Thread.currentThread eq own) {
            world.clock.pass(Duration.ofMillis(100))
            if (turns.decrementAndGet() == 0) {
              world.logs(west).leaderless = Set.empty
              world.logs(west).away = None
            }
          }
        val from  = world.source.position(start)
        val error = once("1min")(run => intercept[SpliceException](run.advance(from, Limits.Everything)))
        assert(error.getCondition == "SPLICE_KAFKA_CONNECTION.CLUSTER_UNAVAILABLE" && error.getMessage.contains(west))
        turns.set(100)
        // The timeout must not end before a busy machine returns a response.
        once("1000 days") { run =>
          val until = run.advance(from, Limits.Everything)
          assert(rows(run, from, until).sorted ==
            Seq(east, west).flatMap(cluster => all(cluster, 3) ++ all(cluster, 3, 1)).sorted)
        }
        world.clock.read = () => ()
    }
  }

  private val both  = LogPartition(SimulatedClusters.Both, 0)
  private val other = KafkaStream("other", SortedMap(west -> SortedSet(both.topic)))

  /** Reads the other topic of west while the end of the first topic needs a response of its partition without a
    * leader.
    */
  private def ending(stop: Boolean, options: (String, String)*)(
      use: (SimulatedClusters, SplitEnumerator[DynamicOffset], DynamicOffset, Seq[(String, Int, Long)]) => Unit
  ): Unit = leaderless(options :+ ("maxRemovalFraction" -> "1"): _*) { (world, run, first) =>
    world.logs(west).create(both.topic, 1)
    world.logs(west).fill(both.topic, 0, 3)
    world.publish(if (stop) stream(east, west).copy(stop = Some(Place.Latest)) else stream(east), other)
    world.awaitRefresh()
    val (at, some) = readUntil(world, run, first)(_.of(west).get(both).contains(3L))
    use(world, run, at, some)
  }

  private def drains(world: SimulatedClusters): Boolean =
    new ChangeEntries(world.side).last.exists(_.draining.contains(ClusterTopic(west, topic(west))))

  private def isAbandoned(world: SimulatedClusters): Boolean = history(world).exists { case (event, names) =>
    event == "topicAbandoned" && names.exists(_.startsWith(s"$west/${topic(west)}: "))
  }

  private def pass(
      world: SimulatedClusters,
      run: SplitEnumerator[DynamicOffset],
      from: DynamicOffset,
      minutes: Int
  ): DynamicOffset = (1 to minutes).foldLeft(from) { (at, _) =>
    world.clock.pass(Duration.ofMinutes(1))
    advance(run, at)
  }

  test("the end of a topic waits for a partition without a leader, but other topics of the cluster do not") {
    Seq(true, false).foreach { stop =>
      ending(stop) { (world, run, one, some) =>
        val two = pass(world, run, one, minutes = 5)
        world.logs(west).leaderless = Set.empty
        val end = pass(world, run, two, minutes = 1)
        // A client describes the topics to which the enumerator of its cluster subscribes.
        world.logs(west).subscribed = Subscription.Topics(SortedSet(both.topic))
        write(world, 2)
        val (_, none) = readAll(run, end)
        assert(!drains(world))
        assert((some ++ rows(run, one, two) ++ rows(run, two, end) ++ none).filter(_._1 == west).sorted ==
          all(west, 5) ++ all(west, 5, 1).drop(3))
      }
    }
  }

  test("a removed topic with a partition without a leader is abandoned after the timeout, including across restarts") {
    ending(stop = false, "drainTimeout" -> "1h") { (world, run, one, _) =>
      val two = pass(world, run, one, minutes = 50)
      assert(drains(world))
      Using.resource(world.start())(again => pass(world, again, two, minutes = 20))
      assert(!drains(world))
    }
  }

  test("a removed topic with a determined end is abandoned if a partition has no leader until the timeout") {
    leaderless("maxRemovalFraction" -> "1", "maxOffsetsPerTrigger" -> "1", "drainTimeout" -> "1h") {
      (world, run, first) =>
        world.logs(west).leaderless = Set.empty
        world.publish(stream(east))
        world.awaitRefresh()
        val bounded = advance(run, first)
        world.logs(west).leaderless = Set(LogPartition(topic(west), 1))
        val still = pass(world, run, bounded, minutes = 50)
        assert(drains(world))
        val end = pass(world, run, still, minutes = 20)
        assert(!drains(world) && isAbandoned(world))
        assert(run.figures(end)(ProgressMetric.RowsAbandoned) == "1")
    }
  }

  test("an abandoned partition without a leader is reported with the last end that its leader returned") {
    leaderless("maxRemovalFraction" -> "1", "maxOffsetsPerTrigger" -> "1", "drainTimeout" -> "1h") {
      (world, run, first) =>
        world.logs(west).leaderless = Set.empty
        val known = advance(run, first)
        world.logs(west).leaderless = Set(LogPartition(topic(west), 1))
        publish(world, stream(east))
        val _    = pass(world, run, known, minutes = 70)
        val lost = history(world).collect { case ("topicAbandoned", names) => names }.flatten
        assert(lost.exists(_.matches(".*partition 1 from [34], last end 5.*")), lost)
    }
  }

  test("a topic with a stop is not abandoned") {
    ending(stop = true, "drainTimeout" -> "1h") { (world, run, one, _) =>
      val _ = pass(world, run, one, minutes = 90)
      assert(drains(world))
    }
  }
}
