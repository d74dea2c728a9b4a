// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.enumerator.outage

import java.time.{Duration, Instant}

import scala.collection.immutable.{SortedMap, SortedSet}
import scala.util.Using

import splice.kafka.Place
import splice.kafka.dynamic.KafkaStream
import splice.kafka.dynamic.internal.enumerator.{RemovedTopics, SimulatedClusters}
import splice.kafka.dynamic.internal.split.DynamicOffset
import splice.kafka.dynamic.internal.state.ChangeEntries
import splice.source.runtime.ProgressMetric
import splice.source.{Limits, LogPartition, SplitEnumerator, StartPosition}

/** Tests of topics that the metadata removes before their start is known. */
final class RemovedBeforeStartSuite extends RemovedTopics {

  private type Run = SplitEnumerator[DynamicOffset]

  private val (third, fourth) = ("cluster-002", "cluster-003")
  private val other           = KafkaStream("other", SortedMap(fourth -> SortedSet(topic(fourth))))

  private def of(world: SimulatedClusters, event: String): Seq[String] =
    history(world).collect { case (`event`, names) => names }.flatten

  private def abandoned(world: SimulatedClusters): Seq[String] = of(world, "topicAbandoned")

  private def away(world: SimulatedClusters, cluster: String, isAway: Boolean): Unit =
    world.logs(cluster).away = Option.when(isAway)(_ => true)

  /** Starts a query whose stream moves from cluster east to cluster west. The time of the move passes before cluster
    * west responds. Each cluster has two records before and two records after the time.
    */
  private def overdue(stop: Boolean = false)(use: (SimulatedClusters, Run, DynamicOffset, Instant) => Unit): Unit = {
    val world = new SimulatedClusters(
      4,
      1,
      1,
      "discoveryInterval"  -> "5ms",
      "maxRemovalFraction" -> "1"
    )
    val time = world.clock.instant().plus(Duration.ofMinutes(5))
    Seq(east, west).foreach(cluster =>
      world.logs(cluster).write(topic(cluster), 0, Seq(-2, -1, 0, 1).map(time.toEpochMilli + _): _*)
    )
    fill(world, third, 3)
    world.publish(stream(east), other)
    Using.resource(world.start()) { run =>
      val first = world.begin(StartPosition.Configured, run)
      val end   = Option.when(stop)(Place.At(time.plusMillis(1)))
      publish(world, stream(west).copy(cutover = Some(Place.At(time)), stop = end), other)
      val (moved, old) = readUntil(world, run, first)(reads(east, 0, 2))
      assert(old == all(east, 2))
      away(world, west, isAway = true)
      world.clock.pass(Duration.ofMinutes(10))
      use(world, run, moved, time)
    }
  }

  /** Reads until the last change has drained cluster west. */
  private def drained(world: SimulatedClusters, run: Run, from: DynamicOffset) =
    readUntil(world, run, from)(_ => of(world, "topicDrained").contains(s"$west/${topic(west)}"))._2

  // The rows of each document that a batch reads during the outage.
  private val documents = Seq[(String, Seq[KafkaStream], Seq[(String, Int, Long)])](
    ("reverts the move", Seq(stream(east), other), all(east, 4).drop(2)),
    ("moves the stream to a third cluster", Seq(stream(third), other), all(third, 3)),
    ("removes the stream", Seq(other), Nil)
  )

  documents.foreach { case (text, streams, now) =>
    test(s"a document that $text after the time of a cutover does not lose the rows after the time") {
      overdue() { (world, run, moved, _) =>
        publish(world, streams: _*)
        val (at, some) = readUntil(world, run, moved) { at =>
          at.change > 1 && now.lastOption.forall { case (cluster, p, offset) => reads(cluster, p, offset + 1)(at) }
        }
        assert(some == now)
        away(world, west, isAway = false)
        assert(drained(world, run, at) == all(west, 4).drop(2) && abandoned(world).isEmpty)
      }
    }
  }

  test("a document that reverts the move of a stream with a stop does not read the rows after the stop") {
    overdue(stop = true) { (world, run, moved, _) =>
      publish(world, stream(east), other)
      val (taken, _) = readUntil(world, run, moved)(reads(east, 0, 4))
      away(world, west, isAway = false)
      assert(drained(world, run, taken) == Seq((west, 0, 2L)))
    }
  }

  test("a restart does not lose the rows after the time of a cutover that a document reverts") {
    overdue() { (world, run, moved, _) =>
      publish(world, stream(east), other)
      val (taken, _) = readUntil(world, run, moved)(reads(east, 0, 4))
      run.close()
      Using.resource(world.start()) { again =>
        val still = advance(again, world.source.position(taken.json))
        away(world, west, isAway = false)
        assert(drained(world, again, still) == all(west, 4).drop(2) && abandoned(world).isEmpty)
      }
    }
  }

  test("a run over all available data reads the rows after the time of a cutover that a document reverts") {
    overdue() { (world, run, moved, _) =>
      run.close()
      away(world, west, isAway = false)
      world.publish(stream(east), other)
      Using.resource(world.start()) { last =>
        last.freeze()
        val ends = Iterator.iterate(world.source.position(moved.json))(last.advance(_, Limits.Everything)).sliding(2)
          .collectFirst { case Seq(at, next) if at.json == next.json => at }
        assert(rows(last, moved, ends.get).sorted == all(east, 4).drop(2) ++ all(west, 4).drop(2))
      }
    }
  }

  test("a removed topic whose cluster does not return the start for the timeout is abandoned and reported") {
    overdue() { (world, run, moved, time) =>
      publish(world, stream(east), other)
      val (taken, _) = readUntil(world, run, moved)(reads(east, 0, 4))
      world.clock.pass(Duration.ofMinutes(30))
      val (waiting, _) = readUntil(world, run, taken)(_ => of(world, "topicDrainDelayed").nonEmpty)
      assert(abandoned(world).isEmpty)
      world.clock.pass(Duration.ofHours(3))
      val (over, _) = readUntil(world, run, waiting)(_ => abandoned(world).nonEmpty)
      assert(run.figures(over).get("topicsAbandonedTotal").contains("1"))
      assert(abandoned(world).forall(_.startsWith(s"$west/${topic(west)}: ")) && abandoned(world).size == 1)
      assert(abandoned(world).forall(_.contains(s"the number of unread rows from $time is unknown")), abandoned(world))
    }
  }

  test("a document with a later cutover waits until the cutover whose time is reached has ended") {
    overdue() { (world, run, moved, time) =>
      val again = time.plus(Duration.ofHours(1))
      world.logs(west).write(topic(west), 0, again.toEpochMilli - 1, again.toEpochMilli)
      world.logs(third).write(topic(third), 0, again.toEpochMilli - 1, again.toEpochMilli)
      publish(world, stream(third).copy(cutover = Some(Place.At(again))), other)
      val waiting = Iterator.iterate(moved) { at =>
        world.clock.pass(Duration.ofSeconds(11))
        advance(run, at)
      }.drop(3).next()
      assert(rows(run, moved, waiting).isEmpty && of(world, "topicCutoverDone").isEmpty)
      away(world, west, isAway = false)
      val (cut, some) = readUntil(world, run, waiting)(reads(west, 0, 5))
      assert(some == all(west, 5).drop(2))
      world.clock.pass(Duration.ofHours(2))
      assert(readUntil(world, run, cut)(reads(third, 0, 5))._2 == all(third, 5).drop(4))
    }
  }

  test("a document with a later cutover does not wait for a cluster whose cutover a document has reverted") {
    overdue() { (world, run, moved, time) =>
      val again = time.plus(Duration.ofMinutes(15))
      publish(world, stream(east), other)
      val (taken, _) = readUntil(world, run, moved)(reads(east, 0, 4))
      publish(world, stream(third).copy(cutover = Some(Place.At(again))), other)
      val scheduled = Iterator.iterate(taken) { at =>
        world.clock.pass(Duration.ofSeconds(11))
        advance(run, at)
      }.drop(3).next()
      assert(of(world, "topicCutoverScheduled").size == 2)
      Seq(east, third).foreach(name =>
        world.logs(name).write(topic(name), 0, again.toEpochMilli - 1, again.toEpochMilli)
      )
      world.clock.pass(Duration.ofMinutes(15))
      val (cut, some) = readUntil(world, run, scheduled)(at => reads(third, 0, 5)(at) && !at.clusters.contains(east))
      assert(some.sorted == all(east, 5).drop(4) ++ all(third, 5).drop(4) && pending(world))
      away(world, west, isAway = false)
      assert(drained(world, run, cut) == all(west, 4).drop(2) && abandoned(world).isEmpty)
    }
  }

  /** Adds a stream with a start on the unavailable cluster west, and removes the stream before the cluster responds. */
  private def unbegun(place: Place, options: (String, String)*)(
      use: (SimulatedClusters, Run, DynamicOffset) => Unit
  ): Unit = {
    val world = simulated(options: _*)
    val now   = world.clock.instant().toEpochMilli
    world.logs(west).write(topic(west), 0, (1 to 4).map(now - 10 + _): _*)
    Using.resource(world.start()) { run =>
      val first = world.begin(StartPosition.Configured, run)
      away(world, west, isAway = true)
      publish(world, stream(east), KafkaStream("t", stream(west).topics, start = Some(place)))
      val (waiting, _) = readUntil(world, run, first)(_.change > 0)
      publish(world, stream(east))
      val (removed, _) = readUntil(world, run, waiting)(_.change > 1)
      use(world, run, removed)
    }
  }

  test("a topic with a start that is removed before its cluster responds is drained from its start") {
    Seq[(Place, Int)](
      Place.Earliest                                                                  -> 0,
      Place.At(Instant.ofEpochMilli(1700000000000L - 7))                              -> 2,
      Place.Offsets(SortedMap(west -> SortedMap(LogPartition(topic(west), 0) -> 3L))) -> 3
    ).foreach { case (place, from) =>
      unbegun(place) { (world, run, removed) =>
        away(world, west, isAway = false)
        assert(drained(world, run, removed) == all(west, 4).drop(from) && abandoned(world).isEmpty, place)
      }
    }
  }

  test("a topic that is removed before its cluster responds has no rows if its start is the end of the log") {
    unbegun(Place.Latest) { (world, _, _) =>
      assert(!new ChangeEntries(world.side).last.exists(_.read.contains(west)) && abandoned(world).isEmpty)
    }
  }

  test("a topic with a start whose cluster does not respond for the timeout is abandoned and begins there later") {
    unbegun(Place.Latest, "stream.t.startingOffsets" -> "earliest")((world, _, _) => assert(pending(world)))
    unbegun(Place.Earliest) { (world, run, removed) =>
      val (waiting, _) = readUntil(world, run, removed)(_ => of(world, "topicDrainDelayed").nonEmpty)
      world.clock.pass(Duration.ofHours(3))
      val (over, _) = readUntil(world, run, waiting)(_ => abandoned(world).nonEmpty)
      assert(abandoned(world).forall(_.contains("the number of unread rows from the start is unknown")))
      assert(run.figures(over).get("topicsAbandonedTotal").contains("1"))
      away(world, west, isAway = false)
      val offset = SortedMap(LogPartition(topic(west), 0) -> 3L)
      val start  = Some(Place.Offsets(SortedMap(west -> offset)))
      publish(world, stream(east), KafkaStream("t", stream(west).topics, start = start))
      assert(readUntil(world, run, over)(reads(west, 0, 4))._2 == all(west, 4).drop(3))
    }
  }

  private def pending(world: SimulatedClusters): Boolean =
    new ChangeEntries(world.side).last.exists(_.pending.nonEmpty)

  /** Starts a query that no longer has the position of the topic of cluster west, which it has read before. Cluster
    * west is unavailable then.
    */
  private def forgotten(use: (SimulatedClusters, Run, DynamicOffset) => Unit): Unit = {
    val options =
      Seq("discoveryInterval" -> "5ms", "maxRemovalFraction" -> "1", "removedRetention" -> "1h")
    val world = new SimulatedClusters(4, 1, 1, options: _*)
    world.publish(stream(east, west))
    Seq(east, west).foreach(fill(world, _, 3))
    Using.resource(world.start()) { run =>
      val start      = world.begin(StartPosition.Configured, run)
      val (first, _) = readUntil(world, run, start)(at => reads(west, 0, 3)(at) && reads(east, 0, 3)(at))
      publish(world, stream(east))
      drained(world, run, first)
      world.clock.pass(Duration.ofHours(2))
      val (at, _) = readUntil(world, run, first)(_ => of(world, "topicForgotten").nonEmpty)
      away(world, west, isAway = true)
      use(world, run, at)
    }
  }

  test("a topic that returns after its retention begins like a new topic, also if its first records have expired") {
    val world = simulated("removedRetention" -> "1h")
    Seq(east, west).foreach(fill(world, _, 3))
    Using.resource(world.start()) { run =>
      val (first, _) = readUntil(world, run, world.begin(StartPosition.Configured, run))(reads(east, 0, 3))
      publish(world, stream(east, west))
      val (both, _) = readUntil(world, run, first)(reads(west, 0, 3))
      publish(world, stream(east))
      drained(world, run, both)
      world.clock.pass(Duration.ofHours(2))
      val (left, _) = readUntil(world, run, both)(_ => of(world, "topicForgotten").nonEmpty)
      fill(world, west, 3)
      world.logs(west).expire(topic(west), 0, 4)
      publish(world, stream(east, west))
      val (end, rest) = readUntil(world, run, left)(reads(west, 0, 6))
      assert(rest == all(west, 6).drop(4) && run.figures(end)(ProgressMetric.RowsSkipped) == "0")
    }
  }

  private def offsets(ends: (String, Long)*): Option[Place] =
    Some(Place.Offsets(SortedMap.from(ends.map { case (cluster, end) =>
      cluster -> SortedMap(LogPartition(topic(cluster), 0) -> end)
    })))

  test("a topic that returns after its retention and is removed before its cluster responds is drained") {
    forgotten { (world, run, at) =>
      fill(world, west, 2)
      publish(world, stream(east, west))
      val (waiting, _) = readUntil(world, run, at)(_ => of(world, "topicReturned").nonEmpty)
      publish(world, stream(east))
      val (removed, _) = readUntil(world, run, waiting)(_ => pending(world))
      away(world, west, isAway = false)
      val (_, rest) = readUntil(world, run, removed)(_ => of(world, "topicDrained").size == 2)
      assert(rest == all(west, 5))
    }
  }

  test("a document that reverts a move by offsets to a deleted topic ends the drain of the topic with a report") {
    forgotten { (world, run, at) =>
      world.logs(west).delete(topic(west))
      world.logs(west).named = Set(topic(west))
      publish(world, stream(west).copy(cutover = offsets(east -> 4, west -> 5)))
      val (waiting, _) = readUntil(world, run, at)(_ => of(world, "topicReturned").nonEmpty)
      publish(world, stream(east))
      val (removed, _) = readUntil(world, run, waiting)(_ => pending(world))
      away(world, west, isAway = false)
      world.clock.pass(Duration.ofDays(2))
      val (over, _) = readUntil(world, run, removed)(_ => !pending(world))
      fill(world, east, 2)
      assert(readUntil(world, run, over)(reads(east, 0, 5))._2 == all(east, 5).drop(3))
      assert(abandoned(world).exists(_.startsWith(s"$west/${topic(west)}: ")) && abandoned(world).size == 1)
    }
  }

  test("a document that moves a stream by a cutover is applied after the start of the topic that the stream leaves") {
    forgotten { (world, run, at) =>
      publish(world, stream(west).copy(cutover = offsets(east -> 3, west -> 3)))
      val (moved, _) = readUntil(world, run, at)(_ => of(world, "topicReturned").nonEmpty)
      fill(world, west, 4)
      fill(world, third, 6)
      publish(world, stream(third).copy(cutover = offsets(west -> 5, third -> 4)))
      val waiting = Iterator.iterate(moved) { from =>
        world.clock.pass(Duration.ofSeconds(11))
        advance(run, from)
      }.drop(3).next()
      val groups = run.figures(waiting).get("waitingGroups")
      val found  = s""""generation":${world.generation},"rejected":"[SPLICE_METADATA.CUTOVER_REJECTED]"""
      assert(groups.exists(_.contains(found)), groups)
      away(world, west, isAway = false)
      val (_, rest) = readUntil(world, run, waiting)(reads(third, 0, 6))
      assert(rest.sorted == all(west, 5).drop(3) ++ all(third, 6).drop(4))
    }
  }

  test("the drain of a removed topic that does not exist ends") {
    unbegun(Place.Earliest) { (world, run, removed) =>
      world.logs(west).delete(topic(west))
      world.logs(west).named = Set(topic(west))
      away(world, west, isAway = false)
      // The enumerator discovers topics once a day.
      world.clock.pass(Duration.ofDays(2))
      assert(readUntil(world, run, removed)(_ => !pending(world) && of(world, "topicDrained").nonEmpty)._2.isEmpty)
    }
  }
  test("a response without a removed topic that exists does not end the drain of the topic") {
    unbegun(offsets(west -> 3).get) { (world, run, removed) =>
      world.logs(west).named = Set(topic(west))
      world.logs(west).hide(LogPartition(topic(west), 0))
      away(world, west, isAway = false)
      assert(drained(world, run, removed) == all(west, 4).drop(3) && abandoned(world).isEmpty)
    }
  }
}
