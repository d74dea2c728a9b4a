// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.cluster

import java.io.{IOException, InterruptedIOException}
import java.time.{Clock, Duration, Instant}
import java.util.concurrent.CountDownLatch

import scala.annotation.tailrec
import scala.collection.immutable.{SortedMap, SortedSet}
import scala.util.Using

import org.apache.kafka.common.errors.{SaslAuthenticationException, TimeoutException}
import org.apache.spark.sql.types.StructType
import org.scalatest.funsuite.AnyFunSuite

import splice.kafka.Place
import splice.kafka.dynamic.internal.split.DynamicPosition
import splice.kafka.dynamic.internal.state.AppliedMetadata
import splice.kafka.dynamic.internal.state.TopicState.{Bound, Draining}
import splice.kafka.dynamic.{KafkaCluster, KafkaStream, StreamMetadata}
import splice.kafka.internal.admission.RecordTimes
import splice.kafka.internal.cluster.TimedOffset
import splice.kafka.internal.enumerator.{ClusterEnumerator, KafkaPlan}
import splice.kafka.internal.errors.KafkaErrors
import splice.kafka.internal.split.KafkaPosition
import splice.source.errors.SpliceException
import splice.source.log.LogRange
import splice.source.{Limits, LogPartition, SplitRange, SplitReaderFactory, StartPosition}
import splice.testkit.LoggedMessages

final class ClusterWorkerSuite extends AnyFunSuite {

  /** Enumerator whose responses the test controls. `id` is the number of the created enumerator. */
  final private class Answering(
      id: Int,
      events: StringBuffer,
      closing: () => Unit = () => (),
      storing: () => Unit = () => ()
  ) extends ClusterEnumerator {
    private def note(what: String): Unit                                     = { val _ = events.append(s"$id $what, ") }
    override def advance(from: KafkaPosition, limits: Limits): KafkaPosition = {
      note("asked")
      from
    }
    override def freeze(): Unit                       = note("frozen")
    override def isStale: Boolean                     = ClusterWorkerSuite.this.isStale
    override def storeUnread(at: KafkaPosition): Unit = storing()
    override def close(): Unit                        = {
      closing()
      note("closed")
    }

    override def start(at: StartPosition, of: Map[String, Place]): KafkaPosition           = KafkaPosition.Empty
    override def readers(columns: StructType, ranges: Seq[SplitRange]): SplitReaderFactory =
      throw new UnsupportedOperationException
    override def settle(from: KafkaPosition): KafkaPosition                                      = from
    override def open(settled: KafkaPosition): Seq[SplitRange]                                   = Nil
    override def reached(settled: KafkaPosition, unread: Seq[SplitRange]): KafkaPosition         = settled
    override def plan: KafkaPlan                                                                 = KafkaPlan()
    override def expect(starts: KafkaPosition): Unit                                             = ()
    override def limit(ends: KafkaPosition, unread: Set[String]): Unit                           = ()
    override def refresh(): Unit                                                                 = ()
    override def written(partitions: Set[LogPartition]): Map[LogPartition, Long]                 = Map.empty
    override def newStarts(of: Set[LogPartition], start: Option[Place]): Map[LogPartition, Long] = Map.empty
    override def clusterId: Option[String]                                                       = None
    override def atTime(millis: Map[LogPartition, Long]): Map[LogPartition, TimedOffset]         = Map.empty
    override def times: RecordTimes = throw new UnsupportedOperationException
    override def logRanges(history: SortedMap[LogPartition, Long]): SortedMap[LogPartition, LogRange] = SortedMap.empty
  }

  @volatile private var isStale = false

  private def events(use: ClusterWorker => Unit): String = {
    val events = new StringBuffer
    val count  = Iterator.from(1)
    Using.resource(new ClusterWorker("east", "run", Clock.systemUTC())(new Answering(count.next(), events)))(use)
    events.toString.stripSuffix(", ")
  }

  private def reach(worker: ClusterWorker): Unit = {
    worker.send(ClusterRequest(KafkaPosition.Empty, Instant.EPOCH))
    assert(response(worker).nonEmpty)
  }

  private def response(worker: ClusterWorker): Option[ClusterResponse] = {
    val minute = Duration.ofMinutes(1)
    worker.receive(KafkaPosition.Empty, minute, Clock.systemUTC().instant().plus(minute), patient = true)
  }

  private def failing(worker: ClusterWorker, error: SpliceException): Unit = {
    val _ = intercept[SpliceException](worker((_: ClusterEnumerator) => throw error))
  }

  private val login  = KafkaErrors.rejected("east:9092", "its topics", new SaslAuthenticationException("no"))
  private val silent =
    KafkaErrors.unreachable("east:9092", "its topics", Duration.ofSeconds(1), new TimeoutException("late"))

  test("a response for an earlier position is not awaited, and the request is sent again") {
    events { worker =>
      val moved = KafkaPosition.of(Map(LogPartition("t", 0) -> 5L))
      worker.send(ClusterRequest(KafkaPosition.Empty, Instant.EPOCH))
      // A later result proves that the worker has handled the earlier request.
      worker(_ => ())
      worker.send(ClusterRequest(moved, Instant.EPOCH))
      val minute = Duration.ofMinutes(1)
      assert(worker.receive(moved, minute, Clock.systemUTC().instant().plus(minute), patient = true).nonEmpty)
    }
  }

  test("a worker is stale while its enumerator is stale") {
    events { worker =>
      assert(!worker.isStale)
      reach(worker)
      assert(!worker.isStale)
      isStale = true
      assert(worker.isStale)
    }
  }

  test("frozen ends do not define the end of a topic that was removed after the freeze") {
    def leaving(topics: String*) =
      topics.map(_ -> Draining("s", Instant.EPOCH, Bound.Requested)).toMap
    val _ = events { worker =>
      def decided(topics: String*) = {
        worker.send(ClusterRequest(KafkaPosition.Empty, Instant.EPOCH, draining = leaving(topics: _*)))
        response(worker).get.request.draining.keySet
      }
      assert(decided("x") == Set("x") && decided("x", "y") == Set("x", "y"))
      worker.freeze()
      assert(decided("x") == Set("x") && decided("x", "y") == Set("x") && decided("y") == Set.empty)
    }
  }

  test("an enumerator is recreated after a rejected login, because a reference may resolve to another password") {
    val seen = events { worker =>
      worker(_.close())
      failing(worker, login)
      assert(worker.health.failures == 1)
      worker(_.freeze())
      assert(worker.health.isGood)
    }
    assert(seen == "1 closed, 1 closed, 2 frozen, 2 closed")
  }

  test("no request is sent before the delay after a failed login") {
    val seen = events { worker =>
      failing(worker, login)
      worker.send(ClusterRequest(KafkaPosition.Empty, Instant.EPOCH))
      assert(worker.pending.isEmpty)
    }
    assert(seen == "1 closed")
  }

  test("an enumerator with unresponsive servers is called again") {
    val seen = events { worker =>
      worker(_.freeze())
      failing(worker, silent)
      worker(_.freeze())
    }
    assert(seen == "1 frozen, 1 frozen, 1 closed")
  }

  test("an enumerator is recreated if the properties of its cluster have changed") {
    val events = new StringBuffer
    val seen   = this.events { worker =>
      worker(_.freeze())
      worker.renew(new Answering(7, events))
      worker(_.freeze())
    }
    assert(seen == "1 frozen, 1 closed" && events.toString == "7 frozen, 7 closed, ")
  }

  test("close cancels all calls of a worker, and closes the enumerator even if a call does not end") {
    Seq(true, false).foreach { endsIfInterrupted =>
      val (begun, release)      = (new CountDownLatch(1), new CountDownLatch(1))
      @tailrec def wait(): Unit =
        if (
          !(try { release.await(); true }
          catch { case _: InterruptedException => endsIfInterrupted })
        ) wait()
      val seen = events { worker =>
        worker.freeze()
        reach(worker)
        val _ = worker.ahead { (_: ClusterEnumerator) =>
          begun.countDown()
          wait()
        }
        val _ = worker.ahead(_.freeze())
        begun.await()
      }
      assert(seen == "1 frozen, 1 asked, 1 closed")
      release.countDown()
    }
  }

  test("a failed or interrupted store of skipped offsets is logged with the effect on the hand-over") {
    Seq(new InterruptedException("stop"), new InterruptedIOException("stop"), new IOException("full")).foreach {
      error =>
        val (_, logged) = LoggedMessages.during(classOf[ClusterWorker].getName) {
          val failing = new Answering(1, new StringBuffer, storing = () => throw error)
          Using.resource(new ClusterWorker(
            "east",
            "run",
            Clock.systemUTC()
          )(failing))(_.storeUnread(KafkaPosition.Empty))
        }
        assert(logged.size == 1, s"$error: $logged")
        assert(
          logged.head.contains("The hand-over counts these offsets as read, so the next leg does not supply them.")
        )
        assert(logged.head.contains("cluster east") && logged.head.contains(error.toString))
    }
  }

  test("a replaced worker closes on a separate thread, and the next worker of the cluster waits for the close") {
    val (events, count, release) = (new StringBuffer, Iterator.from(1), new CountDownLatch(1))
    val workers                  = new ClusterWorkers("run", Clock.systemUTC())((_, _) =>
      () => new Answering(count.next(), events, () => release.await())
    )
    def follow(topics: String*): ClusterWorker = {
      val clusters = SortedMap("east" -> KafkaCluster("east", SortedMap.empty[String, String]))
      val streams  = SortedMap("s" -> KafkaStream("s", SortedMap("east" -> SortedSet.from(topics))))
      workers.follow(AppliedMetadata.first(StreamMetadata(None, clusters, streams)), DynamicPosition.of(0, Nil))
      workers.all("east")
    }
    Using.resource(workers) { _ =>
      reach(follow("t"))
      val next = follow("t", "u")
      next.send(ClusterRequest(KafkaPosition.Empty, Instant.EPOCH))
      release.countDown()
      assert(response(next).nonEmpty && workers.all.keySet == Set("east"))
    }
    assert(events.toString == "1 asked, 1 closed, 2 asked, 2 closed, ")
  }

  test("the end of a run reaches a recreated enumerator") {
    val seen = events { worker =>
      worker.freeze()
      reach(worker)
      failing(worker, login)
      // A failed request is repeated after a delay, but a different request is sent immediately.
      worker(_ => ())
      reach(worker)
    }
    assert(seen == "1 frozen, 1 asked, 1 closed, 2 frozen, 2 asked, 2 closed")
  }
}
