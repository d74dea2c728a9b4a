// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.enumerator.outage

import java.time.Duration
import java.util.concurrent.CountDownLatch

import scala.collection.immutable.{SortedMap, SortedSet}
import scala.util.Using

import splice.kafka.Place
import splice.kafka.dynamic.KafkaStream
import splice.kafka.dynamic.internal.enumerator.{RemovedTopics, SimulatedClusters}
import splice.kafka.dynamic.internal.errors.MetadataErrors
import splice.kafka.dynamic.internal.split.{DynamicOffset, DynamicPosition}
import splice.kafka.dynamic.internal.state.{ChangeEntries, ChangeHistory}
import splice.kafka.internal.enumerator.SimulatedLog
import splice.source.runtime.ProgressMetric
import splice.source.{Limits, LogPartition, SplitEnumerator, StartPosition}

/** Tests of changes that need a response of an unresponsive cluster. */
final class WaitingChangeSuite extends RemovedTopics {

  private val minute = Duration.ofMinutes(1)

  private def waitsFor(run: SplitEnumerator[DynamicOffset], at: DynamicOffset): Option[String] =
    run.figures(at).get(ProgressMetric.Waiting)

  private def groups(run: SplitEnumerator[DynamicOffset], at: DynamicOffset): Option[String] =
    run.figures(at).get("waitingGroups")

  private def moving(world: SimulatedClusters, in: Duration): KafkaStream =
    stream(west).copy(cutover = Some(Place.At(world.clock.instant().plus(in))))

  /** Runs a trigger after a pause in which requests may be repeated. */
  private def trigger(world: SimulatedClusters, run: SplitEnumerator[DynamicOffset], at: DynamicOffset) = {
    world.clock.pass(Duration.ofSeconds(11))
    advance(run, at)
  }

  private def fails(world: SimulatedClusters, cluster: String, fails: Boolean): Unit =
    world.logs(cluster).away = Option.when(fails)(_ => true)

  /** Writes two records before and two records after the time of a move. */
  private def write(world: SimulatedClusters, cluster: String, time: Long): Unit =
    world.logs(cluster).write(topic(cluster), 0, time - 2, time - 1, time, time + 1)

  test("a cutover at a time waits for a response of the old cluster, which the progress names") {
    val world = simulated()
    write(world, east, world.clock.instant().toEpochMilli)
    Using.resource(world.start()) { run =>
      val (first, _) = readUntil(world, run, run.start(StartPosition.Configured))(reads(east, 0, 4))
      fails(world, east, fails = true)
      publish(world, moving(world, minute.multipliedBy(5)))
      val waiting = Iterator.iterate(first)(trigger(world, run, _)).drop(1).take(3).toSeq
      waiting.foreach(at => assert(at == first && waitsFor(run, at).exists(_.contains(east))))
      assert(groups(run, waiting.last).contains(s"""[{"streams":["s"],"generation":3,"waitsFor":["$east"]}]"""))
      fails(world, east, fails = false)
      val (taken, _) = readUntil(world, run, waiting.last)(_.change > 0)
      assert(waitsFor(run, taken).isEmpty && groups(run, taken).isEmpty)
    }
  }

  test("after the time of a cutover, the stream waits for a response of the new cluster, which the progress names") {
    val world = simulated()
    val time  = world.clock.instant().plus(minute.multipliedBy(5))
    Seq(east, west).foreach(write(world, _, time.toEpochMilli))
    Using.resource(world.start()) { run =>
      // The first batch reads one record before the time.
      val first = run.start(StartPosition.Configured)
      publish(world, stream(west).copy(cutover = Some(Place.At(time))))
      val (moved, old) = readUntil(world, run, first)(reads(east, 0, 2))
      assert(old == all(east, 2) && waitsFor(run, moved).isEmpty)
      fails(world, west, fails = true)
      world.clock.pass(minute.multipliedBy(10))
      val waiting = Iterator.iterate(moved)(trigger(world, run, _)).drop(1).take(3).toSeq
      waiting.foreach(at => assert(waitsFor(run, at).exists(_.contains(west))))
      assert(groups(run, waiting.last).contains(s"""[{"streams":["s"],"generation":3,"waitsFor":["$west"]}]"""))
      fails(world, west, fails = false)
      val (_, rest) = readUntil(world, run, waiting.last)(at => reads(west, 0, 4)(at) && !at.clusters.contains(east))
      assert(rest == all(west, 4).drop(2))
    }
  }

  test(
    "a cutover at a time reads the records of a transaction that is open at the time, and records that a replica lacks"
  ) {
    val last = LogPartition(topic(east), 0)
    Seq[SimulatedLog => Unit](
      _.open = Map(last -> 2L),
      log => (1 to 20).foreach(_ => log.answerEnds(Map(last -> 1L)))
    ).foreach { hide =>
      val world = simulated()
      fill(world, east, 1)
      Using.resource(world.start()) { run =>
        val (first, _) = readUntil(world, run, run.start(StartPosition.Configured))(reads(east, 0, 1))
        fill(world, east, 2)
        hide(world.logs(east))
        publish(world, moving(world, minute))
        world.clock.pass(minute.multipliedBy(10))
        val (taken, none) = readUntil(world, run, first)(_.change > 1)
        world.logs(east).open = Map.empty
        world.logs(east).settle()
        val (_, rest) = readUntil(world, run, taken)(!_.clusters.contains(east))
        assert(none ++ rest == all(east, 3).drop(1))
      }
    }
  }

  test("a cutover at a time starts after the records of a transaction that is open at the time") {
    val world = simulated()
    fill(world, east, 1)
    fill(world, west, 3)
    Using.resource(world.start()) { run =>
      val (first, _) = readUntil(world, run, run.start(StartPosition.Configured))(reads(east, 0, 1))
      world.logs(west).open = Map(LogPartition(topic(west), 0) -> 2L)
      publish(world, moving(world, minute))
      world.clock.pass(minute.multipliedBy(10))
      val (moved, none) = readUntil(world, run, first)(reads(west, 0, 3))
      val still         = Iterator.iterate(moved)(trigger(world, run, _)).drop(5).next()
      world.logs(west).open = Map.empty
      fill(world, west, 2)
      val (_, rest) = readUntil(world, run, still)(reads(west, 0, 5))
      assert(none ++ rest == all(west, 5).drop(3))
    }
  }

  test("a change that waits for a cluster is applied while a later document is invalid") {
    val world = simulated()
    write(world, east, world.clock.instant().toEpochMilli)
    Using.resource(world.start()) { run =>
      val (first, _) = readUntil(world, run, run.start(StartPosition.Configured))(reads(east, 0, 4))
      fails(world, east, fails = true)
      publish(world, moving(world, minute.multipliedBy(5)))
      val waiting = trigger(world, run, trigger(world, run, first))
      world.invalid = Some(MetadataErrors.invalid("streams.yaml", 3, "clusters.west", "not an object"))
      world.awaitRefresh()
      val (still, both) = (trigger(world, run, waiting), s""""generation":3,"waitsFor":["$east"]""")
      val rejected      = """[{"streams":[],"rejected":"[SPLICE_METADATA.INVALID_DOCUMENT] """
      assert(groups(run, still).exists(text => text.startsWith(rejected) && text.contains(both)), groups(run, still))
      fails(world, east, fails = false)
      val (taken, _) = readUntil(world, run, still)(_.change > 0)
      assert(waitsFor(run, taken).isEmpty && groups(run, taken).exists(_.startsWith(rejected)))
    }
  }

  test("a document that reverts the move does not wait for a cluster") {
    val world = simulated()
    write(world, east, world.clock.instant().toEpochMilli)
    Using.resource(world.start()) { run =>
      val (first, _) = readUntil(world, run, run.start(StartPosition.Configured))(reads(east, 0, 4))
      fails(world, east, fails = true)
      publish(world, moving(world, minute))
      val waiting = trigger(world, run, trigger(world, run, first))
      assert(waitsFor(run, waiting).nonEmpty && groups(run, waiting).nonEmpty)
      publish(world, stream(east))
      val taken = trigger(world, run, waiting)
      assert(waitsFor(run, taken).isEmpty && groups(run, taken).isEmpty)
    }
  }

  test("a waiting cutover does not delay other streams of the same document") {
    val world = simulated()
    val other = KafkaStream("other", SortedMap(west -> SortedSet(SimulatedClusters.Both)))
    world.logs(west).create(SimulatedClusters.Both, 1)
    world.logs(west).fill(SimulatedClusters.Both, 0, 3)
    write(world, east, world.clock.instant().toEpochMilli)
    Using.resource(world.start()) { run =>
      val (first, _) = readUntil(world, run, run.start(StartPosition.Configured))(reads(east, 0, 4))
      fails(world, east, fails = true)
      publish(world, moving(world, minute), other)
      val (at, rows) =
        readUntil(world, run, first)(_.of(west).get(LogPartition(SimulatedClusters.Both, 0)).contains(3L))
      assert(rows.size == 3 && waitsFor(run, at).exists(_.contains(east)))
      assert(groups(run, at).contains(s"""[{"streams":["s"],"generation":3,"waitsFor":["$east"]}]"""))
      val applied = ChangeHistory(world.side).filter(_.event == "streamApplied")
      assert(applied.map(e => e.generation -> e.names) == Seq(Some(2L) -> Seq("s"), Some(3L) -> Seq("other")))
      fails(world, east, fails = false)
      val (moved, _) = readUntil(world, run, at)(!_.clusters.contains(east))
      assert(waitsFor(run, moved).isEmpty)
    }
  }

  test("two streams wait together if a document moves a topic between them and one of them waits for a cutover") {
    val (third, both) = ("cluster-002", SimulatedClusters.Both)
    val world         = new SimulatedClusters(3, 1, 1, "discoveryInterval" -> "5ms", "maxRemovalFraction" -> "1")
    val other         = KafkaStream("other", SortedMap(third -> SortedSet(topic(third))))
    val applied       = Seq("other", "s")
    def changes       = ChangeHistory(world.side).filter(_.event == "streamApplied").map(e => e.generation -> e.names)

    def moves(end: Long)(at: DynamicPosition): Boolean = at.of(third).get(LogPartition(both, 0)).contains(end)

    world.logs(third).create(both, 1)
    world.logs(third).fill(both, 0, 3)
    fill(world, west, 3)
    write(world, east, world.clock.instant().toEpochMilli)
    world.publish(KafkaStream("s", stream(east).topics + (third -> SortedSet(both))), other)
    Using.resource(world.start()) { run =>
      val (first, _) =
        readUntil(world, run, run.start(StartPosition.Configured))(at => reads(east, 0, 4)(at) && moves(3)(at))
      fails(world, east, fails = true)
      publish(world, moving(world, minute), other.copy(topics = SortedMap(third -> SortedSet(both, topic(third)))))
      world.logs(third).fill(both, 0, 2)
      val (waiting, some) = readUntil(world, run, first)(moves(5))
      val still           = trigger(world, run, trigger(world, run, waiting))
      assert(some == Seq((third, 0, 3L), (third, 0, 4L)) && still == waiting)
      assert(groups(run, still).contains(s"""[{"streams":["other","s"],"generation":3,"waitsFor":["$east"]}]"""))
      assert(changes == Seq(Some(2L) -> applied))
      fails(world, east, fails = false)
      val (moved, none) = readUntil(world, run, still)(!_.clusters.contains(east))
      assert(none.isEmpty && groups(run, moved).isEmpty)
      assert(changes == Seq(Some(2L) -> applied, Some(3L) -> applied))
      fill(world, west, 2)
      Seq(both, topic(third)).foreach(world.logs(third).fill(_, 0, 1))
      val (_, rest) =
        readUntil(world, run, moved)(at => reads(west, 0, 5)(at) && reads(third, 0, 1)(at) && moves(6)(at))
      assert(rest.sorted == all(west, 5).drop(3) ++ Seq((third, 0, 0L), (third, 0, 5L)))
    }
  }

  test("the progress names a group that waits for an inactive cluster, and a group and a document that are rejected") {
    val world = simulated("maxRemovalFraction" -> "0.5")
    val other = KafkaStream("other", SortedMap(west -> SortedSet(SimulatedClusters.Both)))
    world.publish(stream(east), other)
    world.logs(west).create(SimulatedClusters.Both, 1)
    write(world, east, world.clock.instant().toEpochMilli)
    Using.resource(world.start()) { run =>
      val (first, _) = readUntil(world, run, run.start(StartPosition.Configured))(reads(east, 0, 4))
      world.inactive = Set(east)
      publish(world, moving(world, minute), other)
      val inactive = trigger(world, run, trigger(world, run, first))
      assert(groups(run, inactive).contains(s"""[{"streams":["s"],"generation":4,"waitsFor":["$east"]}]"""))
      assert(waitsFor(run, inactive).isEmpty)
      world.inactive = Set.empty
      publish(world, moving(world, minute.negated()), other)
      val passed   = trigger(world, run, trigger(world, run, inactive))
      val rejected = groups(run, passed).getOrElse("")
      assert(
        rejected.startsWith("""[{"streams":["s"],"generation":5,"rejected":"[SPLICE_METADATA.CUTOVER_REJECTED] """),
        rejected
      )
      // A corrected document may have a generation between the generations of the state and of the rejected document.
      assert(world.side.keys("document-").isEmpty)
      publish(world)
      val empty = groups(run, trigger(world, run, passed)).getOrElse("")
      assert(empty.startsWith("""[{"streams":[],"generation":6,"rejected":"[SPLICE_METADATA.EMPTY_DOCUMENT] """), empty)
      publish(world, stream(east), other)
      assert(groups(run, trigger(world, run, passed)).isEmpty)
    }
  }

  test("a topic that returns after its retention waits only for its cluster, and starts like a new topic") {
    val world = simulated("onRemoved" -> "drop", "removedRetention" -> "1h", "newPartitionsStartAt" -> "latest")
    world.publish(stream(east, west))
    Seq(east, west).foreach(fill(world, _, 3))
    Using.resource(world.start()) { run =>
      val (first, _) = readUntil(world, run, run.start(StartPosition.Configured))(at =>
        reads(west, 0, 3)(at) && reads(east, 0, 3)(at)
      )
      publish(world, stream(east))
      val dropped = trigger(world, run, first)
      world.clock.pass(Duration.ofHours(2))
      val forgotten = trigger(world, run, dropped)
      fill(world, west, 4)
      fails(world, west, fails = true)
      publish(world, stream(east, west))
      fill(world, east, 2)
      val (away, some) = readUntil(world, run, forgotten)(reads(east, 0, 5))
      assert(some == all(east, 5).drop(3) && waitsFor(run, away).exists(_.contains(west)))
      fails(world, west, fails = false)
      val (back, none) = readUntil(world, run, away)(reads(west, 0, 7))
      assert(none.isEmpty)
      fill(world, west, 1)
      assert(readUntil(world, run, back)(reads(west, 0, 8))._2 == all(west, 8).drop(7))
    }
  }

  test("a topic that returns after its retention and after further changes does not repeat rows") {
    val world = simulated("onRemoved" -> "drop", "removedRetention" -> "1h", "newPartitionsStartAt" -> "latest")
    fill(world, west, 3)
    Using.resource(world.start()) { run =>
      val first = advance(run, run.start(StartPosition.Configured))
      publish(world, stream(east, west))
      val (second, _) = readUntil(world, run, first)(reads(west, 0, 3))
      fill(world, west, 2)
      val (third, some) = readUntil(world, run, second)(reads(west, 0, 5))
      assert(some == all(west, 5).drop(3))
      publish(world, stream(east))
      val dropped = trigger(world, run, third)
      world.clock.pass(Duration.ofHours(2))
      val forgotten = trigger(world, run, dropped)
      assert(history(world).last == "topicForgotten" -> Seq(s"$west/${topic(west)}"))
      publish(world, stream(east).copy(stop = Some(Place.Latest)))
      val stopped = trigger(world, run, forgotten)
      assert(new ChangeEntries(world.side).last.exists(_.topics.size == 1))
      fill(world, west, 4)
      publish(world, stream(east, west))
      val (back, none) = readUntil(world, run, stopped)(reads(west, 0, 9))
      assert(none.isEmpty)
      fill(world, west, 1)
      assert(readUntil(world, run, back)(reads(west, 0, 10))._2 == all(west, 10).drop(9))
    }
  }

  test("a run over all available data does not read past the time before the cluster returns its position") {
    val world = simulated("clusterWait" -> "10ms")
    val time  = world.clock.instant().minusSeconds(60)
    Seq(east, west).foreach(write(world, _, time.toEpochMilli))
    val begin = Using.resource(world.start())(_.start(StartPosition.Configured))
    world.publish(stream(west).copy(cutover = Some(Place.At(time))))
    val turns = new CountDownLatch(100)
    world.clock.read = () => turns.countDown()
    world.logs(east).between = what => if (what == "atTime") turns.await()
    Using.resource(world.start()) { run =>
      run.freeze()
      val ends = Iterator.iterate(world.source.position(begin.json))(run.advance(_, Limits.Everything)).sliding(2)
        .collectFirst { case Seq(at, next) if at.json == next.json => at }
      assert(run.splits(begin, ends.get).map(r => r.splitId -> r.weight) ==
        Seq(s"$east/${topic(east)}-0" -> 2L, s"$west/${topic(west)}-0" -> 2L))
    }
  }

  test("a topic that returns after its retention with offsets of one partition starts like a new topic in the others") {
    val world = simulated("onRemoved" -> "drop", "removedRetention" -> "1h", "newPartitionsStartAt" -> "latest")
    world.logs(west).create(topic(west), 2)
    def fillBoth(count: Int): Unit = Seq(0, 1).foreach(world.logs(west).fill(topic(west), _, count))
    world.publish(stream(east, west))
    fillBoth(3)
    Using.resource(world.start()) { run =>
      val (first, _) = readUntil(world, run, run.start(StartPosition.Configured))(reads(west, 1, 3))
      publish(world, stream(east))
      val dropped = trigger(world, run, first)
      world.clock.pass(Duration.ofHours(2))
      val forgotten = trigger(world, run, dropped)
      fillBoth(4)
      val offsets = Place.Offsets(SortedMap(west -> SortedMap(LogPartition(topic(west), 0) -> 9L)))
      publish(world, stream(east, west).copy(start = Some(offsets)))
      val (back, none) = readUntil(world, run, forgotten)(reads(west, 0, 9))
      val still        = trigger(world, run, back)
      assert(none.isEmpty && still == back)
      assert(new ChangeEntries(world.side).last.exists(_.expectedOn(west).offsets.keySet.map(_.partition) == Set(0)))
      fillBoth(4)
      val (_, rest) = readUntil(world, run, still)(at => reads(west, 0, 11)(at) && reads(west, 1, 11)(at))
      assert(rest.sorted == all(west, 11).drop(9) ++ all(west, 11, partition = 1).drop(7))
    }
  }
}
