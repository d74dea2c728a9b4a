// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.enumerator

import java.time.Duration
import java.util.concurrent.atomic.{AtomicInteger, AtomicReference}
import java.util.concurrent.{CountDownLatch, CyclicBarrier}

import scala.concurrent.duration.DurationInt
import scala.concurrent.{Await, ExecutionContext, Future}
import scala.util.Using

import org.scalatest.funsuite.AnyFunSuite

import splice.kafka.dynamic.internal.split.{DynamicOffset, DynamicSplitRange}
import splice.source.{Limits, SplitEnumerator, StartPosition}
import splice.testkit.internal.Patient

/** Tests of requests and offsets of a query over many partitions. */
final class ManyClustersSuite extends AnyFunSuite {

  private def limits(enumerator: SplitEnumerator[DynamicOffset], at: DynamicOffset): Limits.Limited =
    enumerator.limits(at)

  private def advance(enumerator: SplitEnumerator[DynamicOffset], from: DynamicOffset): DynamicOffset =
    enumerator.advance(from, limits(enumerator, from))

  private def ranges(
      enumerator: SplitEnumerator[DynamicOffset],
      from: DynamicOffset,
      until: DynamicOffset
  ): Map[String, (Long, Long)] =
    enumerator.splits(from, until).collect { case r: DynamicSplitRange => r.splitId -> (r.range.from -> r.range.until) }
      .toMap

  test("20,000 partitions: the offset is short, a replay has the same ranges, and an idle trigger changes nothing") {
    val world   = new SimulatedClusters(clusters = 50, topics = 20, partitions = 20)
    val size    = 50 * 20 * 20
    val offsets = Using.resource(world.start()) { run =>
      val start = run.start(StartPosition.Configured)
      world.write()
      val first = advance(run, start)
      assert(ranges(run, start, first).size == size && ranges(run, start, first).values.forall(_ == (0L -> 1L)))
      world.write()
      val second = advance(run, first)
      assert(advance(run, second) eq second)
      Seq(start, first, second)
    }
    assert(offsets.forall(_.json.length < 100) && offsets.map(_.json).distinct.size == 3)
    assert(world.side.keys("position-").size == 3)
    Using.resource(world.start()) { run =>
      val read = offsets.map(at => world.source.position(at.json))
      assert(ranges(run, read(1), read(2)).size == size && ranges(run, read(1), read(2)).values.forall(_ == (1L -> 2L)))
      assert(ranges(run, read(0), read(2)).values.forall(_ == (0L -> 2L)))
      assert(advance(run, read(2)).json == read(2).json && world.side.keys("position-").size == 3)
      assert(read(0).precedes(read(1)) && read(1).precedes(read(2)) && !read(2).precedes(read(1)))
    }
  }

  test("a batch that was planned by a killed run is planned again: the same offset for the same position") {
    val world = new SimulatedClusters(clusters = 5, topics = 20, partitions = 200)
    val start = Using.resource(world.start())(_.start(StartPosition.Configured))
    world.write()
    val killed = Using.resource(world.start())(run => advance(run, world.source.position(start.json)))
    val again  = Using.resource(world.start())(run => advance(run, world.source.position(start.json)))
    assert(again.json == killed.json && again.json.length < 100)
    world.write()
    val later = Using.resource(world.start())(run => advance(run, world.source.position(start.json)))
    assert(later.json != killed.json && killed.precedes(later))
  }

  test("positions are removed before the oldest offset that Spark keeps, and not before commits that Spark skips") {
    val world = new SimulatedClusters(clusters = 5, topics = 20, partitions = 200)
    Using.resource(world.start()) { run =>
      val end = (1 to 10).foldLeft(run.start(StartPosition.Configured)) { (from, _) =>
        world.logs("cluster-000").fill("cluster-000-topic-000", 0, 1)
        val next = advance(run, from)
        assert(ranges(run, from, next).size == 1)
        next
      }
      run.committed(end)
      assert(world.side.keys("position-").size == 11)
      run.retain(end)
      // The entries of the start and of the oldest offset remain.
      assert(world.side.keys("position-").size == 2 && end.json.contains(world.side.keys("position-").last))
    }
  }

  test("an idle trigger sends one request to each cluster, all concurrently") {
    val clusters = 50
    val world    = new SimulatedClusters(clusters, topics = 2, partitions = 2)
    Using.resource(world.start()) { run =>
      world.write()
      val at = advance(run, run.start(StartPosition.Configured))
      assert(advance(run, at) eq at)
      world.logs.values.foreach(_.calls.clear())
      val met     = new AtomicInteger
      val meeting = new CyclicBarrier(clusters, () => { val _ = met.incrementAndGet() })
      // Sequential requests would block here indefinitely.
      world.logs.values.foreach(_.between = what => if (what == "ends") { val _ = meeting.await() })
      assert(advance(run, at) eq at)
      assert(met.get == 1)
      world.logs.foreach { case (name, log) => assert(log.calls == Seq("ends"), name) }
    }
  }

  test("a batch waits for clusterWait once if several clusters hang, and the next batch does not wait") {
    val world = new SimulatedClusters(clusters = 3, topics = 1, partitions = 1, "clusterWait" -> "1h")
    Using.resource(world.start()) { run =>
      val at      = run.start(StartPosition.Configured)
      val held    = new CountDownLatch(1)
      val waiting = new AtomicReference[Thread]
      world.write()
      world.logs.values.foreach(_.between = what => if (what == "ends") held.await())
      // The first cluster responds when the wait of the batch is over. A second wait would take an hour.
      world.logs("cluster-000").between = { what =>
        if (what == "ends") {
          awaitWait(waiting.get)
          world.clock.pass(Duration.ofHours(1))
        }
      }
      val batches = Future {
        waiting.set(Thread.currentThread)
        val first = advance(run, at)
        world.logs("cluster-000").between = _ => ()
        Seq(ranges(run, at, first), ranges(run, first, advance(run, first)))
      }(ExecutionContext.global)
      val expected = Map("cluster-000/cluster-000-topic-000-0" -> (0L -> 1L))
      try assert(Await.result(batches, 1.minute) == Seq(expected, expected.empty))
      finally held.countDown()
    }
  }

  private def awaitWait(thread: Thread): Unit =
    Patient.until("the thread waits")(thread.getState == Thread.State.TIMED_WAITING)
}
