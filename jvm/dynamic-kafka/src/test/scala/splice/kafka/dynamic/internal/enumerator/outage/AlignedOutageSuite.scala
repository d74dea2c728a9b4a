// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.enumerator.outage

import java.time.{Duration, Instant}
import java.util.concurrent.Semaphore
import java.util.concurrent.atomic.AtomicInteger

import scala.util.Using

import splice.kafka.Place
import splice.kafka.dynamic.internal.admission.AlignedClusters
import splice.kafka.dynamic.internal.enumerator.{RemovedTopics, SimulatedClusters}
import splice.source.StartPosition
import splice.source.errors.SpliceException
import splice.source.runtime.ProgressMetric
import splice.testkit.LoggedMessages

/** Tests of outages while batches end at one time in all clusters. */
final class AlignedOutageSuite extends RemovedTopics {

  private def world(options: (String, String)*): SimulatedClusters = {
    val created = simulated(
      Seq("admission" -> "eventTime", "clusterTimeout" -> "30s", "fetchOffset.retryIntervalMs" -> "10") ++ options: _*
    )
    created.publish(stream(east, west))
    Seq(east, west).foreach(write(created, _))
    created
  }

  private def write(world: SimulatedClusters, cluster: String): Unit =
    world.logs(cluster).write(topic(cluster), 0, world.clock.instant().toEpochMilli)

  /** Makes requests of a kind to a cluster fail, reads, and waits for the timeout.
    *
    * @return
    *   the rows of the first batch during the outage, and the result after the timeout
    */
  private def outage(world: SimulatedClusters)(fails: String => Boolean): (Int, Either[SpliceException, Int]) =
    Using.resource(world.start()) { run =>
      val (at, _) = readAll(run, world.begin(StartPosition.Configured, run))
      Seq(east, west).foreach(write(world, _))
      world.logs(west).away = Some(fails)
      val held = advance(run, at)
      // A request that failed is repeated after a pause. Its response is for the next batch.
      val after =
        try Right(rows(
            run,
            at,
            (1 to 4).foldLeft(held) { (from, _) =>
              world.clock.pass(Duration.ofSeconds(31))
              advance(run, from)
            }
          ).size)
        catch { case e: SpliceException => Left(e) }
      (rows(run, at, held).size, after)
    }

  Seq[(String, String => Boolean)](
    "a cluster"              -> (_ => true),
    "the times of a cluster" -> (_ == "atTimeSoon")
  ).foreach {
    case (what, fails) =>
      test(s"without a response of $what, a batch has no rows; after clusterTimeout, a warning names the cluster") {
        val (result, logged) = LoggedMessages.during(classOf[AlignedClusters].getName)(outage(world())(fails))
        assert(result == (0 -> Right(1)))
        assert(logged.exists(text => text.contains(west) && text.contains("can be late")))
      }

      test(s"without a response of $what, onClusterUnavailable=fail ends the query after clusterTimeout") {
        val (held, result) = outage(world("onClusterUnavailable" -> "fail"))(fails)
        assert(held == 0 && result.left.exists(_.getCondition == "SPLICE_KAFKA_CONNECTION.CLUSTER_UNAVAILABLE"))
      }
  }

  test("onClusterUnavailable=fail ends the query if each response of a cluster is too late for its batch") {
    val own = world("onClusterUnavailable" -> "fail", "clusterWait" -> "1ms")
    Using.resource(own.start()) { run =>
      val from = own.begin(StartPosition.Configured, run)
      val at   = Iterator.iterate(from)(advance(run, _)).find(rows(run, from, _).size == 2).get
      val gate = new Semaphore(0)
      own.logs(west).between = what => if (what == "ends") gate.acquire()
      write(own, east)
      val error = intercept[SpliceException]((1 to 100).foreach { _ =>
        // A permit that no request has used would let a later request respond in time.
        val _ = gate.drainPermits()
        assert(rows(run, at, advance(run, at)).isEmpty)
        own.clock.pass(Duration.ofSeconds(20))
        gate.release()
      })
      own.logs(west).between = _ => ()
      gate.release(100)
      assert(error.getCondition == "SPLICE_KAFKA_CONNECTION.CLUSTER_UNAVAILABLE" && error.getMessage.contains(west))
    }
  }

  test("a pause between two batches is no outage") {
    val first = Instant.EPOCH
    val twice = AlignedClusters.Outage(first).next.next
    val later = first.plusSeconds(3600)
    assert(!twice.isOver(later, Duration.ofSeconds(30)) && twice.next.isOver(later, Duration.ofSeconds(30)))
  }

  test("AvailableNow waits for a cluster whose times are missing, and reads its rows") {
    val own = world()
    Using.resource(own.start()) { run =>
      run.freeze()
      val first    = own.begin(StartPosition.Configured, run)
      val failures = new AtomicInteger
      own.logs(west).away = Some(_ == "atTimeSoon" && failures.incrementAndGet() <= 20)
      // A request that failed is repeated after a pause.
      own.clock.read = () => own.clock.pass(Duration.ofMillis(10))
      assert(readAll(run, first)._2.size == 2)
    }
  }

  test("a record of the future is in the metric of held rows") {
    val own = world()
    own.logs(east).write(topic(east), 0, own.clock.instant().toEpochMilli + 3600000)
    Using.resource(own.start()) { run =>
      val (at, read) = readAll(run, own.begin(StartPosition.Configured, run))
      assert(read.size == 2 && run.figures(at)(ProgressMetric.RowsHeld) == "1")
      own.clock.pass(Duration.ofHours(1))
      assert(readAll(run, at)._2.size == 1)
    }
  }

  test("a topic that waits for its cutover holds no batch") {
    val own = world()
    own.publish(stream(east))
    Using.resource(own.start()) { run =>
      val (at, _) = readAll(run, own.begin(StartPosition.Configured, run))
      val time    = own.clock.instant().plusSeconds(300)
      publish(own, stream(west).copy(cutover = Some(Place.At(time))))
      val (waiting, _) = readAll(run, at)
      write(own, east)
      assert(readAll(run, waiting)._2 == Seq((east, 0, 1L)))
    }
  }
}
