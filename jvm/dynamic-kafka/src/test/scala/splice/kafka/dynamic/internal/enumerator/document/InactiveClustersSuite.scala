// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.enumerator.document

import java.time.Duration
import java.util.concurrent.atomic.{AtomicBoolean, AtomicInteger}
import java.util.concurrent.{CopyOnWriteArrayList, CountDownLatch}

import scala.collection.immutable.SortedSet
import scala.jdk.CollectionConverters._
import scala.util.Using

import splice.kafka.dynamic.internal.enumerator.{RemovedTopics, SimulatedClusters}
import splice.kafka.dynamic.internal.reader.ClusterReads
import splice.kafka.dynamic.internal.split.DynamicOffset
import splice.kafka.internal.cluster.{BackgroundDiscovery, Discovery, LogDescription}
import splice.kafka.internal.enumerator.SimulatedLog
import splice.kafka.internal.metrics.TaskReads
import splice.kafka.internal.options.Subscription
import splice.source.internal.polling.PollHealth
import splice.source.runtime.{ProgressMetric, Report}
import splice.source.{LogPartition, SplitEnumerator, StartPosition}
import splice.testkit.internal.Patient
import splice.testkit.internal.simulation.StoppingSideLog

/** Tests that the driver sends no requests to an inactive cluster, with discovery on a separate thread. */
final class InactiveClustersSuite extends RemovedTopics with Patient {

  private type Run = SplitEnumerator[DynamicOffset]

  /** Two clusters, the second with discovery on a separate thread. */
  final private class World(options: (String, String)*) {
    val clusters: SimulatedClusters = simulated(options: _*)

    /** Number of requests of discovery to west, and of all other requests to west. */
    val (described, requested) = (new AtomicInteger, new AtomicInteger)

    /** Called by each request of discovery to west. */
    @volatile var describing: () => Unit = () => ()

    /** The closed objects of discovery of west. */
    val closed = new AtomicInteger
    val opened = new AtomicInteger

    private val threads = new CopyOnWriteArrayList[Thread]

    // A separate thread requests topics, so the test uses a copy of the log.
    private val topics = new SimulatedLog(Subscription.Topics(SortedSet(topic(west))))
    topics.clusterId = clusters.logs(west).clusterId
    topics.create(topic(west), 1)
    topics.between = { _ =>
      if (Thread.currentThread.getName.startsWith("splice-kafka-discovery")) threads.addIfAbsent(Thread.currentThread)
      described.incrementAndGet()
      describing()
    }
    clusters.logs(west).between = _ => { val _ = requested.incrementAndGet() }

    private val others = clusters.discovery
    clusters.discovery = name =>
      if (name == west) {
        opened.incrementAndGet()
        val background = new BackgroundDiscovery(topics, Duration.ofMillis(1), clusters.clock, "of-inactive-clusters")
        new Discovery {
          override def now(): LogDescription           = background.now()
          override def news(): Option[LogDescription]  = background.news()
          override def pending: Option[LogDescription] = background.pending
          override def health: PollHealth              = background.health
          override def close(): Unit                   = {
            background.close()
            val _ = closed.incrementAndGet()
          }
        }
      } else others(name)
    clusters.publish(stream(east, west))
    write(2)

    def write(rows: Int): Unit = Seq(east, west).foreach(fill(clusters, _, rows))

    def setInactive(names: String*): Unit = {
      clusters.inactive = names.toSet
      clusters.awaitRefresh()
    }

    /** Waits until discovery has sent several requests. */
    def awaitDiscovery(): Unit = {
      val before = described.get
      eventually(assert(described.get > before + 2))
    }

    /** Waits until no thread of discovery exists, so that no later request is possible. */
    def awaitEnd(): Unit = eventually {
      assert(closed.get == opened.get, "discovery of the inactive cluster continues")
      assert(!threads.asScala.exists(_.isAlive))
    }

    /** Number of all requests to west. */
    def requests: Int = described.get + requested.get

    def readTwo(run: Run): DynamicOffset = readUntil(clusters, run, run.start(StartPosition.Configured))(at =>
      reads(east, 0, 2)(at) && reads(west, 0, 2)(at)
    )._1
  }

  private def used(options: (String, String)*)(use: (World, Run, DynamicOffset) => Unit): Unit = {
    val world = new World(options: _*)
    Using.resource(world.clusters.start())(run => use(world, run, world.readTwo(run)))
  }

  test("the driver sends no requests to an inactive cluster, and reads the cluster when it is active again") {
    used() { (world, run, first) =>
      world.awaitDiscovery()
      world.setInactive(west)
      val second = advance(run, first)
      world.awaitEnd()
      val before = world.requests
      world.write(3)
      val (third, rows) = readAll(run, second)
      assert(rows == Seq((east, 0, 2L), (east, 0, 3L), (east, 0, 4L)))
      val _ = run.figures(third)
      run.committed(third)
      run.retain(third)
      assert(world.requests == before && world.opened.get == 1)
      world.setInactive()
      val (_, rest) = readUntil(world.clusters, run, third)(reads(west, 0, 5))
      assert(rest == Seq((west, 0, 2L), (west, 0, 3L), (west, 0, 4L)))
      world.awaitDiscovery()
    }
  }

  test("a request that is pending when its cluster becomes inactive is cancelled") {
    used("clusterWait" -> "10ms") { (world, run, first) =>
      world.awaitDiscovery()
      val interrupted = new CountDownLatch(1)
      world.clusters.logs(west).between = { _ =>
        try new CountDownLatch(1).await()
        finally interrupted.countDown()
      }
      world.write(1)
      val (second, _) = readAll(run, first)
      world.setInactive(west)
      val third = advance(run, second)
      assert(awaited(interrupted), "the request continues")
      world.awaitEnd()
      world.clusters.logs(west).between = _ => { val _ = world.requested.incrementAndGet() }
      world.setInactive()
      val (_, rest) = readUntil(world.clusters, run, third)(reads(west, 0, 3))
      assert(rest == Seq((west, 0, 2L)))
    }
  }

  test("a replay of a batch with rows of an inactive cluster uses the cluster, and the next round ends discovery") {
    val world         = new World()
    val (from, until) = Using.resource(world.clusters.start()) { run =>
      val first = world.readTwo(run)
      world.write(1)
      val next = readUntil(world.clusters, run, first)(at => reads(east, 0, 3)(at) && reads(west, 0, 3)(at))._1
      world.setInactive(west)
      val _ = advance(run, next)
      (world.clusters.source.position(first.json), world.clusters.source.position(next.json))
    }
    Using.resource(world.clusters.start()) { again =>
      again.replay(from, until)
      assert(rows(again, from, until).sorted == Seq((east, 0, 2L), (west, 0, 2L)))
      world.awaitDiscovery()
      val _ = advance(again, until)
      world.awaitEnd()
    }
  }

  test("the last offsets of an inactive cluster are committed to the group, although Spark reports the batch later") {
    used("commitToGroup" -> "true", "kafka.group.id" -> "g") { (world, run, first) =>
      world.setInactive(west)
      val second = advance(run, first)
      world.awaitEnd()
      run.committed(first)
      run.stopped(Some(second))
      assert(world.clusters.logs(west).commits.lastOption.contains(Map(LogPartition(topic(west), 0) -> 2L)))
    }
  }

  test("skipped offsets of an inactive cluster are stored before a kill, including offsets of later reports") {
    Seq(false -> Seq(1L -> 4L), true -> Seq(1L -> 2L, 3L -> 4L)).foreach { case (isLate, expected) =>
      val world = new World("endingOffsets" -> "latest")
      world.write(2)
      val end = Using.resource(world.clusters.start()) { run =>
        val start = run.start(StartPosition.Configured)
        val first = readUntil(world.clusters, run, start)(at => reads(east, 0, 4)(at) && reads(west, 0, 4)(at))._1
        run.reported(Seq(skipped(west, 0, 1)))
        world.setInactive(west)
        val second = advance(run, first)
        world.awaitEnd()
        if (isLate) world.clusters.listeners.receive(skipped(west, 2, 3))
        second.json
      }
      world.clusters.inactive = Set.empty
      Using.resource(world.clusters.start()) { again =>
        val last = advance(again, world.clusters.source.position(end))
        assert(held(again, last) == Set(topic(east) -> Seq(0L -> 4L), topic(west) -> expected))
      }
    }
  }

  test("skipped offsets that a failure did not store are stored in a later round") {
    val world = new World("endingOffsets" -> "latest")
    world.write(2)
    val (fails, failed) = (new AtomicBoolean(true), new CountDownLatch(1))
    val log             = new StoppingSideLog(
      world.clusters.side,
      key => key.startsWith("unread") && fails.get && { failed.countDown(); true }
    )
    val end = Using.resource(world.clusters.start(log)) { run =>
      val start = run.start(StartPosition.Configured)
      val first = readUntil(world.clusters, run, start)(at => reads(east, 0, 4)(at) && reads(west, 0, 4)(at))._1
      run.reported(Seq(skipped(west, 0, 1)))
      world.setInactive(west)
      val second = advance(run, first)
      assert(awaited(failed), "the ranges are not stored")
      fails.set(false)
      eventually {
        val _ = advance(run, second)
        assert(world.closed.get == world.opened.get)
      }
      second.json
    }
    world.clusters.inactive = Set.empty
    Using.resource(world.clusters.start()) { again =>
      val last = advance(again, world.clusters.source.position(end))
      assert(held(again, last) == Set(topic(east) -> Seq(0L -> 4L), topic(west) -> Seq(1L -> 4L)))
    }
  }

  test("a cluster that becomes inactive again while its close is pending gets no requests") {
    used("clusterWait" -> "10ms") { (world, run, first) =>
      val hangs = new CountDownLatch(1)
      world.clusters.logs(west).between = _ => awaitUninterruptibly(hangs)
      world.write(1)
      val (second, _) = readAll(run, first)
      world.setInactive(west)
      val third = advance(run, second)
      world.setInactive()
      val fourth = advance(run, third)
      world.setInactive(west)
      val _ = advance(run, fourth)
      hangs.countDown()
      world.awaitEnd()
    }
  }

  // Simulates a call that ignores interrupts, such as a request to a name server.
  private def awaitUninterruptibly(latch: CountDownLatch): Unit =
    try latch.await()
    catch { case _: InterruptedException => awaitUninterruptibly(latch) }

  test("the total of skipped offsets includes skips before and after an inactive period") {
    used() { (world, run, first) =>
      def total(at: DynamicOffset) = run.figures(at)(ProgressMetric.RowsSkipped)
      def skip(): Unit = run.reported(Seq(Report(ClusterReads.key("simulated", west), TaskReads(skipped = 1))))
      skip()
      assert(total(first) == "1")
      world.setInactive(west)
      val second = advance(run, first)
      world.awaitEnd()
      assert(total(second) == "1")
      world.write(1)
      world.setInactive()
      val (third, _) = readUntil(world.clusters, run, second)(reads(west, 0, 3))
      skip()
      assert(total(third) == "2")
    }
  }
}
