// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.enumerator

import java.time.Duration
import java.util.concurrent.CountDownLatch

import scala.concurrent.duration.DurationInt
import scala.concurrent.{Await, ExecutionContext, Future}
import scala.util.Using

import splice.kafka.dynamic.internal.split.{DynamicOffset, DynamicSplitRange}
import splice.kafka.dynamic.internal.state.ChangeEntries
import splice.kafka.internal.enumerator.SimulatedLog
import splice.source.errors.SpliceException
import splice.source.{SplitEnumerator, StartPosition}
import splice.testkit.ReadOnlySideLog

/** Tests of splits of earlier batches without responses of clusters and the metadata service, and of `replay` for
  * these batches.
  */
final class DynamicReplaySuite extends RemovedTopics {

  private type Ranges = Seq[(DynamicSplitRange, Option[String])]

  private type Batch = (DynamicOffset, DynamicOffset, Ranges)

  private def splits(run: SplitEnumerator[DynamicOffset], from: DynamicOffset, until: DynamicOffset): Ranges =
    run.splits(from, until).collect { case r: DynamicSplitRange => r -> r.range.topicId }

  private def world(options: (String, String)*): SimulatedClusters = {
    val policies = Seq(
      "onOutOfRange"                -> "earliest",
      "onTopicRecreated"            -> "restart",
      "onTopicRemoved"              -> "drop",
      "fetchOffset.retryIntervalMs" -> "1"
    )
    val created = simulated(policies ++ options: _*)
    created.publish(stream(east, west))
    fill(created, east, 5)
    fill(created, west, 4)
    created
  }

  private def recreate(log: SimulatedLog, topic: String, records: Int): Unit = {
    log.delete(topic)
    log.create(topic, 1)
    log.fill(topic, 0, records)
  }

  /** Returns the next batch with rows after an event, and the preceding empty batches. */
  private def batches(world: SimulatedClusters, run: SplitEnumerator[DynamicOffset], from: DynamicOffset)(
      event: SimulatedClusters => Unit
  ): Seq[Batch] = {
    event(world)
    world.awaitRefresh()
    // Simulated clusters refresh their partitions once per day.
    world.clock.pass(Duration.ofDays(1))
    val all = Iterator.iterate((from, from, Nil: Ranges)) { case (_, at, _) =>
      val next = advance(run, at)
      (at, next, splits(run, at, next))
    }.drop(1).take(100).to(LazyList)
    val (empty, rest) = all.span(_._3.isEmpty)
    empty ++ rest.take(1)
  }

  private def live(world: SimulatedClusters)(events: (SimulatedClusters => Unit)*): Seq[Batch] =
    Using.resource(world.start()) { run =>
      val begin = run.start(StartPosition.Configured)
      events.foldLeft(Seq.empty[Batch]) { (all, event) =>
        val more = batches(world, run, all.lastOption.fold(begin)(_._2))(event)
        assert(more.lastOption.exists(_._3.nonEmpty))
        all ++ more
      }
    }

  private def silence(world: SimulatedClusters, isSilent: Boolean): Unit = {
    world.unavailable = isSilent
    world.logs.values.foreach { log =>
      log.calls.clear()
      log.away = if (isSilent) Some(_ => true) else None
    }
  }

  test("each batch has the same ranges without a request and without a new entry") {
    val created = world("maxOffsetsPerTrigger" -> "10")
    val all     = live(created)(
      _ => (),
      { w => w.logs(west).create(topic(west), 2); w.logs(west).fill(topic(west), 1, 3) },
      w => recreate(w.logs(east), topic(east), 9),
      fill(_, west, 50),
      _.logs(west).expire(topic(west), 0, 40),
      { w => fill(w, west, 2); w.publish(stream(east)) },
      fill(_, east, 6),
      { w => fill(w, west, 3); w.publish(stream(east, west)) },
      { w => w.logs(east).delete(topic(east)); fill(w, west, 1) }
    )
    val entries = Seq(east, west).flatMap(c => created.side.scope(s"cluster-$c").keys(""))
    Seq("deleted-", "generation-", "new-partitions-", "skips-").foreach(kind =>
      assert(entries.exists(_.startsWith(kind)), kind)
    )
    assert(created.side.keys("change-").size > 3)
    silence(created, isSilent = true)
    Using.resource(created.start(new ReadOnlySideLog(created.side))) { run =>
      all.foreach { case (from, until, planned) =>
        val read = Seq(from, until).map(at => created.source.position(at.json))
        assert(splits(run, read(0), read(1)) == planned, s"$from, $until")
      }
    }
    assert(created.logs.values.forall(_.calls.isEmpty))
  }

  test("a batch reads the last topic of a cluster even if a change of the batch discards its position") {
    val created = world("removedRetention" -> "1h")
    val first   = live(created)(_ => ()).last._2
    fill(created, west, 3)
    created.publish(stream(east))
    // Splice stores the changes of these batches. No offset log contains their offsets.
    Using.resource(created.start()) { run =>
      val _ = readUntil(created, run, first)(!_.clusters.contains(west))
    }
    created.clock.pass(Duration.ofHours(2))
    Using.resource(created.start()) { run =>
      val next = Iterator.iterate(first)(advance(run, _)).drop(1).next()
      assert(!new ChangeEntries(created.side).last.exists(_.clusters.contains(west)))
      assert(rows(run, first, next) == all(west, 7).drop(4))
      val _ = run.readers(created.source.schema, run.splits(first, next))
    }
    Using.resource(created.start()) { run =>
      val next = Iterator.iterate(first)(advance(run, _)).drop(1).next()
      run.replay(first, next)
      val _ = run.readers(created.source.schema, run.splits(first, next))
    }
  }

  test("replay drops a topic that was deleted later, for this and later runs") {
    val created          = world()
    val (from, until, _) = live(created)(_ => ()).last
    created.logs(west).delete(topic(west))
    def replayed() = Using.resource(created.start()) { run =>
      run.replay(from, until)
      rows(run, from, until)
    }
    assert(replayed() == all(east, 5))
    created.logs(west).create(topic(west), 1)
    fill(created, west, 9)
    assert(replayed() == all(east, 5))
    silence(created, isSilent = true)
    Using.resource(created.start(new ReadOnlySideLog(created.side)))(run =>
      assert(rows(run, from, until) == all(east, 5))
    )
  }

  test("replay waits for an unavailable cluster, up to clusterTimeout") {
    // The response to the third request is in time, at 60 s.
    val created                   = world("clusterTimeout" -> "90s")
    val (from, until, planned)    = live(created)(_ => ()).last
    def away(requests: Int): Unit = {
      var left = requests
      created.logs(west).away = Some { _ =>
        created.clock.pass(Duration.ofSeconds(20))
        left -= 1
        left >= 0
      }
    }
    away(requests = 2)
    Using.resource(created.start()) { run =>
      run.replay(from, until)
      assert(splits(run, from, until) == planned)
    }
    away(requests = 1000)
    Using.resource(created.start()) { run =>
      val error = intercept[SpliceException](run.replay(from, until))
      assert(error.getCondition == "SPLICE_KAFKA_CONNECTION.CLUSTER_UNAVAILABLE" && error.getMessage.contains(west))
    }
  }

  test("replay, and not splits, determines the cluster of an accepted checkpoint") {
    val created       = new SimulatedClusters(clusters = 1, topics = 1, partitions = 1)
    val Seq(from, to) = Seq(1, 4).map(n => created.source.position(s"""{"${topic(east)}":{"0":$n}}""")): @unchecked
    fill(created, east, 4)
    Using.resource(created.start(new ReadOnlySideLog(created.side))) { run =>
      assert(intercept[SpliceException](run.splits(from, to)).getCondition == "SPLICE_CHECKPOINT.ENTRY_NOT_FOUND")
      assert(run.figures(to).isEmpty)
    }
    Using.resource(created.start())(_.replay(from, to))
    silence(created, isSilent = true)
    Using.resource(created.start(new ReadOnlySideLog(created.side))) { run =>
      assert(rows(run, from, to) == all(east, 4).drop(1))
    }
  }

  test("a request that hangs on a cluster does not block the splits of its batches") {
    val created = world("clusterWait" -> "10ms")
    Using.resource(created.start()) { run =>
      val begin = run.start(StartPosition.Configured)
      // A cluster that does not respond within `clusterWait` is in a later batch.
      val (first, _) = readUntil(created, run, begin)(at => reads(east, 0, 5)(at) && reads(west, 0, 4)(at))
      val held       = new CountDownLatch(1)
      created.logs(west).between = _ => held.await()
      try {
        fill(created, east, 1)
        val (next, _) = readUntil(created, run, first)(reads(east, 0, 6))
        val ranges    = Future(Seq(rows(run, begin, first), rows(run, first, next)))(ExecutionContext.global)
        assert(Await.result(ranges, 1.minute) == Seq(all(east, 5) ++ all(west, 4), all(east, 6).drop(5)))
      } finally held.countDown()
    }
  }
}
