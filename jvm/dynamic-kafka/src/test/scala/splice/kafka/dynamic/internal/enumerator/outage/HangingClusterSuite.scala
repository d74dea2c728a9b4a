// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.enumerator.outage

import java.time.Duration
import java.util.concurrent.CountDownLatch

import scala.collection.immutable.SortedMap
import scala.concurrent.duration.DurationInt
import scala.concurrent.{Await, ExecutionContext, Future}
import scala.util.Using

import splice.kafka.dynamic.internal.enumerator.SimulatedClusters
import splice.kafka.dynamic.internal.enumerator.open.OpenStreams
import splice.kafka.dynamic.internal.split.DynamicPosition
import splice.kafka.dynamic.{KafkaCluster, StreamMetadata}
import splice.source.StartPosition
import splice.source.errors.SpliceException
import splice.testkit.internal.Patient

/** Tests of clusters whose requests do not end. */
final class HangingClusterSuite extends OpenStreams {

  private val committing = Seq("commitToGroup" -> "true", "kafka.group.id" -> "g")

  private def world(options: (String, String)*): SimulatedClusters = {
    val created = simulated(options: _*)
    created.publish(stream(east, west))
    Seq(east, west).foreach(fill(created, _, 3))
    created
  }

  /** Calls the query while the requests to some clusters do not end. */
  private def hanging[A](world: SimulatedClusters, clusters: String*)(call: => A): A = {
    val held = new CountDownLatch(1)
    clusters.foreach(name => world.logs(name).between = _ => held.await())
    try Await.result(Future(call)(ExecutionContext.global), 1.minute)
    finally {
      clusters.foreach(name => world.logs(name).between = _ => ())
      held.countDown()
    }
  }

  private def isRead(rows: Long)(at: DynamicPosition): Boolean = reads(east, 0, rows)(at) && reads(west, 0, rows)(at)

  /** Next document, which changes the properties of west. */
  private def changed(world: SimulatedClusters, rack: Int): StreamMetadata = {
    def cluster(name: String, more: (String, String)*) =
      name -> KafkaCluster(name, SortedMap("bootstrap.servers" -> s"$name:9092") ++ more)
    StreamMetadata(
      Some(world.generation + 1),
      SortedMap(cluster(east), cluster(west, "client.rack" -> s"rack-$rack")),
      SortedMap("s" -> stream(east, west))
    )
  }

  test("changes of the properties of a hanging cluster do not wait until its clients are closed") {
    val simulation = world(committing :+ ("clusterWait" -> "10ms"): _*)
    val released   = new CountDownLatch(1)
    Using.resource(simulation.start()) { run =>
      val (first, _) = readUntil(simulation, run, run.start(StartPosition.Configured))(isRead(3))
      simulation.logs(west).closing = () => released.await()
      val (last, duration) =
        try
          Patient.timed(hanging(simulation, west) {
            (1 to 5).foldLeft(first) { (at, rack) =>
              simulation.publish(changed(simulation, rack))
              simulation.awaitRefresh()
              advance(run, at)
            }
          })
        finally released.countDown()
      // A worker waits up to 4 seconds for its clients, so five waits would exceed the limit.
      assert(duration.compareTo(Duration.ofSeconds(10)) < 0)
      Seq(east, west).foreach(fill(simulation, _, 2))
      val (_, rest) = readUntil(simulation, run, last)(isRead(5))
      assert(rest.sorted == all(east, 5).drop(3) ++ all(west, 5).drop(3))
    }
  }

  test("a run that is interrupted during a replay stops while a cluster hangs, with commits to a consumer group") {
    val simulation    = world(committing: _*)
    val (from, until) = Using.resource(simulation.start()) { run =>
      val start = run.start(StartPosition.Configured)
      start -> readUntil(simulation, run, start)(isRead(3))._1
    }
    simulation.logs(west).closed = false
    val run  = simulation.start()
    val held = new CountDownLatch(1)
    try {
      val stopped = Future {
        val query = Thread.currentThread
        simulation.logs(west).between = { _ =>
          query.interrupt()
          held.await()
        }
        val positions = Seq(from, until).map(at => simulation.source.position(at.json))
        intercept[InterruptedException](run.replay(positions.head, positions.last))
        run.stopped(Some(positions.last))
        run.close()
      }(ExecutionContext.global)
      Await.result(stopped, 1.minute)
    } finally held.countDown()
    assert(simulation.logs(west).closed)
  }

  private def assertUnavailable(error: SpliceException, clusters: String*): Unit = {
    assert(error.getCondition == "SPLICE_KAFKA_CONNECTION.CLUSTER_UNAVAILABLE")
    val named = Seq(east, west, "cluster-002").filter(name => error.getMessage.contains(name))
    assert(named == clusters, error)
  }

  test("the first start fails after clusterTimeout and names each cluster that hangs") {
    val simulation = new SimulatedClusters(3, 1, 1, "clusterTimeout" -> "2s")
    val error      = hanging(simulation, east, west) {
      Using.resource(simulation.start())(run => intercept[SpliceException](run.start(StartPosition.Configured)))
    }
    assertUnavailable(error, east, west)
    Using.resource(simulation.start())(run => assert(run.start(StartPosition.Configured).json.contains(west)))
  }

  test("a replay fails after clusterTimeout and names each cluster that hangs") {
    val simulation    = world("clusterTimeout" -> "2s")
    val (from, until) = Using.resource(simulation.start()) { run =>
      val start = run.start(StartPosition.Configured)
      start.json -> readUntil(simulation, run, start)(isRead(3))._1.json
    }
    val error = hanging(simulation, east, west) {
      Using.resource(simulation.start()) { run =>
        intercept[SpliceException](run.replay(simulation.source.position(from), simulation.source.position(until)))
      }
    }
    assertUnavailable(error, east, west)
  }

  test("the clusters of the first start share the time of clusterTimeout") {
    val simulation = world("clusterTimeout" -> "1min", "fetchOffset.retryIntervalMs" -> "0")
    val began      = simulation.clock.instant()
    val own        = Thread.currentThread
    simulation.clock.read = () => if (Thread.currentThread eq own) simulation.clock.pass(Duration.ofMillis(100))
    simulation.logs(east).away = Some(_ => simulation.clock.instant().isBefore(began.plusSeconds(45)))
    simulation.logs(west).away = Some(_ => true)
    val error =
      Using.resource(simulation.start())(run => intercept[SpliceException](run.start(StartPosition.Configured)))
    assertUnavailable(error, west)
    simulation.clock.read = () => ()
    assert(simulation.clock.instant().isBefore(began.plusSeconds(75)))
  }

  test("a run with a fixed end reads the rows of other clusters, and then waits for evidence up to clusterTimeout") {
    val simulation = world("endingOffsets" -> "latest")
    val start      = Using.resource(simulation.start())(simulation.begin(StartPosition.Configured, _)).json
    val changed    = Seq("clusterWait" -> "100ms", "clusterTimeout" -> "2s")
    Using.resource(simulation.start(changed = changed)) { run =>
      run.freeze()
      val error = hanging(simulation, west) {
        val from = simulation.source.position(start)
        assert(run.evidence(from).isEmpty)
        val (next, read) = readUntil(simulation, run, from)(reads(east, 0, 3))
        assert(read == all(east, 3))
        intercept[SpliceException](run.evidence(next))
      }
      assertUnavailable(error, west)
    }
  }

  test("a bounded source does not count offsets that readers of any cluster skipped while a cluster hangs") {
    val simulation = world("endingOffsets" -> "latest")
    val run        = simulation.start(changed = Seq("clusterWait" -> "10ms"))
    val (at, _)    = readUntil(simulation, run, simulation.begin(StartPosition.Configured, run))(isRead(3))
    hanging(simulation, west) {
      advance(run, at)
      Seq(skipped(east, 0, 1), skipped(west, 1, 2)).foreach(simulation.listeners.receive)
      run.close()
    }
    assert(held(simulation, at.json) ==
      Set(topic(east) -> Seq(1L -> 3L), topic(west) -> Seq(0L -> 1L, 2L -> 3L)))
  }

  test("a killed real-time batch reads no offsets of a cluster with a pending request, and keeps its skipped offsets") {
    val simulation = world("endingOffsets" -> "latest")
    val run        = simulation.start(changed = Seq("clusterWait" -> "10ms"))
    val first      = until(simulation, run, simulation.begin(StartPosition.Configured, run))(
      (east, 0, 0L, 3L),
      (west, 0, 0L, 3L)
    )
    run.reported(Seq(skipped(west, 0, 1)))
    val second = reach(run, first)(east -> 3L, west -> 1L)
    val third  = hanging(simulation, west) {
      val next = settle(run, second)
      assert(planned(run, next).isEmpty)
      reach(run, next)()
    }
    val fourth = until(simulation, run, third)((west, 0, 1L, 3L))
    run.reported(Seq(skipped(west, 1, 2)))
    val end = reach(run, fourth)()
    assert(held(simulation, end.json) == Set(topic(east) -> Seq(0L -> 3L), topic(west) -> Seq(2L -> 3L)))
    run.close()
  }
}
