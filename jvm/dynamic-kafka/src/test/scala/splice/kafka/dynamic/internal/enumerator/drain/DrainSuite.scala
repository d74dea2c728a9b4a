// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.enumerator.drain

import java.time.{Duration, Instant}
import java.util.concurrent.CountDownLatch

import scala.collection.immutable.{SortedMap, SortedSet}
import scala.util.Using

import splice.kafka.Place
import splice.kafka.dynamic.KafkaStream
import splice.kafka.dynamic.internal.enumerator.{RemovedTopics, SimulatedClusters}
import splice.kafka.dynamic.internal.split.DynamicOffset
import splice.kafka.dynamic.internal.state.ChangeHistory
import splice.kafka.internal.enumerator.SimulatedLog
import splice.kafka.internal.options.Subscription
import splice.source.runtime.ProgressMetric
import splice.source.{LogPartition, OffsetRanges, SplitEnumerator, StartPosition}

/** Tests of drains, which read removed topics to their ends. */
final class DrainSuite extends RemovedTopics {

  test("a topic that waits for a cutover is drained if the move is reverted") {
    val world = simulated("cutover" -> "stream", "maxOffsetsPerTrigger" -> "1")
    fill(world, east, 5)
    fill(world, west, 3)
    Using.resource(world.start()) { run =>
      val start = run.start(StartPosition.Configured)
      val first = advance(run, start)
      world.publish(stream(west))
      world.awaitRefresh()
      val moved = advance(run, first)
      assert(rows(run, first, moved).forall(_._1 == east))
      world.publish(stream(east))
      world.awaitRefresh()
      val (_, rest) = readAll(run, moved)
      val read      = rows(run, start, first) ++ rows(run, first, moved) ++ rest
      assert(read.sorted == all(east, 5) ++ all(west, 3))
    }
  }

  test(
    "a topic that is removed while its cluster is inactive or unavailable is drained later, including after a restart"
  ) {
    Seq[(SimulatedClusters => Unit, SimulatedClusters => Unit)](
      (_.inactive = Set(west), _.inactive = Set.empty),
      (_.logs(west).away = Some(_ => true), _.logs(west).away = None)
    ).foreach { case (leave, comeBack) =>
      val world = simulated()
      fill(world, east, 5)
      fill(world, west, 3)
      leave(world)
      val at = Using.resource(world.start()) { run =>
        val (first, _) = readAll(run, run.start(StartPosition.Configured))
        world.publish(stream(east, west))
        world.awaitRefresh()
        val (second, none) = readAll(run, first)
        assert(none.isEmpty)
        world.publish(stream(east))
        world.awaitRefresh()
        readAll(run, second)._1
      }
      comeBack(world)
      Using.resource(world.start()) { run =>
        val (end, rest) = readAll(run, world.source.position(at.json))
        assert(rest == all(west, 3) && readAll(run, end)._2.isEmpty)
      }
    }
  }

  test("a response to a request before the removal does not define the end of a drain") {
    val world = simulated("clusterWait" -> "100ms")
    world.publish(stream(east, west))
    fill(world, east, 5)
    Using.resource(world.start()) { run =>
      val (first, _) = readUntil(world, run, run.start(StartPosition.Configured))(reads(east, 0, 5))
      val late       = new CountDownLatch(1)
      world.logs(east).between = what => if (what == "ends") late.await()
      assert(advance(run, first) == first)
      fill(world, east, 7)
      world.publish(stream(west))
      world.awaitRefresh()
      world.logs(east).between = _ => ()
      late.countDown()
      val (_, rest) = readUntil(world, run, first)(!_.clusters.contains(east))
      assert(rest == all(east, 12).drop(5))
    }
  }

  test("a partition that was created shortly before the removal is drained") {
    val world = simulated()
    world.publish(stream(east, west))
    fill(world, east, 5)
    Using.resource(world.start()) { run =>
      val (first, _) = readUntil(world, run, run.start(StartPosition.Configured))(reads(east, 0, 5))
      world.logs(east).create(topic(east), 2)
      world.logs(east).fill(topic(east), 1, 3)
      world.publish(stream(west))
      world.awaitRefresh()
      val (_, rest) = readUntil(world, run, first)(!_.clusters.contains(east))
      assert(rest == all(east, 3, partition = 1))
    }
  }

  test("a drain includes the records of a transaction that is open at the removal") {
    val world = simulated()
    world.publish(stream(east, west))
    fill(world, west, 3)
    Using.resource(world.start()) { run =>
      val (first, _) = readUntil(world, run, run.start(StartPosition.Configured))(reads(west, 0, 3))
      fill(world, west, 4)
      world.logs(west).open = Map(LogPartition(topic(west), 0) -> 2L)
      world.publish(stream(east))
      world.awaitRefresh()
      val (visible, some) = readUntil(world, run, first)(reads(west, 0, 5))
      val still           = advance(run, visible)
      assert(still.json.contains(west))
      world.logs(west).open = Map.empty
      val (_, rest) = readUntil(world, run, still)(!_.clusters.contains(west))
      assert(some ++ rest == all(west, 7).drop(3))
    }
  }

  test("the offsets of a cluster are committed to the group up to the end of its last drain") {
    val world = simulated("commitToGroup" -> "true", "kafka.group.id" -> "g")
    world.publish(stream(east, west))
    fill(world, west, 3)
    Using.resource(world.start()) { run =>
      val (first, _) = readUntil(world, run, run.start(StartPosition.Configured))(reads(west, 0, 3))
      fill(world, west, 4)
      world.publish(stream(east))
      world.awaitRefresh()
      val drained = advance(run, first)
      run.committed(first)
      assert(!advance(run, drained).json.contains(west))
      run.committed(drained)
    }
    // Another thread closes the clients of a removed cluster. The end of the run waits for this thread.
    assert(world.logs(west).commits.lastOption.contains(Map(LogPartition(topic(west), 0) -> 7L)))
  }

  private val both = LogPartition(SimulatedClusters.Both, 0)
  private val kept = KafkaStream("kept", SortedMap(west -> SortedSet(both.topic)))

  /** Two topics on one cluster, each of another stream. */
  private def twoTopics(): SimulatedClusters = {
    val world = simulated("commitToGroup" -> "true", "kafka.group.id" -> "g")
    world.logs(west).create(both.topic, 1)
    world.logs(west).fill(both.topic, 0, 2)
    fill(world, west, 3)
    world.publish(stream(east, west), kept)
    world
  }

  /** Removes one of the two topics. Returns the positions before and after the batch that drains the topic. */
  private def drainOne(
      world: SimulatedClusters,
      run: SplitEnumerator[DynamicOffset]
  ): (DynamicOffset, DynamicOffset) = {
    val (first, _) = readUntil(world, run, run.start(StartPosition.Configured)) { at =>
      reads(west, 0, 3)(at) && at.of(west).get(both).contains(2L)
    }
    fill(world, west, 4)
    world.logs(west).fill(both.topic, 0, 1)
    publish(world, stream(east), kept)
    first -> advance(run, first)
  }

  /** Plans the batch after a drain. */
  private def planNext(
      world: SimulatedClusters,
      run: SplitEnumerator[DynamicOffset],
      drained: DynamicOffset
  ): DynamicOffset = {
    // A client describes only topics that are read.
    world.logs(west).subscribed = Subscription.Topics(SortedSet(both.topic))
    advance(run, drained)
  }

  private def committed(world: SimulatedClusters, partition: LogPartition): Seq[Long] =
    world.logs(west).commits.flatMap(_.get(partition))

  test("the last offsets of a drained topic are committed to the group if its cluster keeps another topic") {
    val world = twoTopics()
    val left  = LogPartition(topic(west), 0)
    Using.resource(world.start()) { run =>
      val (first, drained) = drainOne(world, run)
      run.committed(first)
      assert(committed(world, left) == Seq(3L) && committed(world, both) == Seq(2L))
      assert(!planNext(world, run, drained).json.contains(topic(west)))
      run.committed(drained)
      assert(committed(world, left) == Seq(3L, 7L) && committed(world, both) == Seq(2L, 3L))
    }
  }

  test("the last offsets of a drained topic are committed to the group if another run reads the last batch again") {
    val world            = twoTopics()
    val left             = LogPartition(topic(west), 0)
    val (first, drained) = Using.resource(world.start())(drainOne(world, _))
    Using.resource(world.start()) { run =>
      val (from, until) = (world.source.position(first.json), world.source.position(drained.json))
      run.replay(from, until)
      assert(committed(world, left).isEmpty)
      assert(!planNext(world, run, until).json.contains(topic(west)))
      assert(committed(world, left) == Seq(7L) && committed(world, both).isEmpty)
    }
  }

  test("a drain does not end before a partition without a leader has responded, even if the partition is unread") {
    val world = simulated()
    world.publish(stream(east, west))
    fill(world, west, 3)
    Using.resource(world.start()) { run =>
      val (first, _) = readUntil(world, run, run.start(StartPosition.Configured))(reads(west, 0, 3))
      fill(world, west, 4)
      world.logs(west).create(topic(west), 2)
      world.logs(west).fill(topic(west), 1, 2)
      world.logs(west).leaderless = Set(0, 1).map(LogPartition(topic(west), _))
      world.publish(stream(east))
      world.awaitRefresh()
      fill(world, east, 1)
      val (one, some) = readUntil(world, run, first)(reads(east, 0, 1))
      assert(some == all(east, 1) && one.json.contains(west))
      // The already read partition responds first.
      world.logs(west).leaderless = Set(LogPartition(topic(west), 1))
      val still = (1 to 5).foldLeft(one) { (at, _) =>
        world.clock.pass(Duration.ofSeconds(11))
        advance(run, at)
      }
      assert(still.json.contains(west))
      world.logs(west).leaderless = Set.empty
      val (_, rest) = readUntil(world, run, still)(!_.clusters.contains(west))
      assert((rows(run, one, still) ++ rest).sorted == all(west, 7).drop(3) ++ all(west, 2, partition = 1))
    }
  }

  test("a drain ends if its topic is deleted or recreated, and the next topic of the stream is read") {
    Seq[SimulatedLog => Unit](
      _.delete(topic(east)),
      { log =>
        log.delete(topic(east))
        log.create(topic(east), 1)
        log.fill(topic(east), 0, 9)
      }
    ).foreach { lose =>
      Seq("drop", "drain").foreach { removed =>
        val world = simulated(
          "cutover"              -> "stream",
          "maxOffsetsPerTrigger" -> "1",
          "failOnDataLoss"       -> "false",
          "onTopicRemoved"       -> removed,
          "onTopicRecreated"     -> "restart"
        )
        fill(world, east, 5)
        fill(world, west, 3)
        Using.resource(world.start()) { run =>
          val first = advance(run, run.start(StartPosition.Configured))
          world.publish(stream(west))
          world.awaitRefresh()
          val moved = advance(run, first)
          lose(world.logs(east))
          // Simulated clusters refresh their partitions once per day.
          world.clock.pass(Duration.ofDays(1))
          val (end, rest) = readUntil(world, run, moved)(at => reads(west, 0, 3)(at) && !at.clusters.contains(east))
          assert(rest == all(west, 3) && advance(run, end) == end)
        }
      }
    }
  }

  test("the count of skipped records of all clusters is kept when a cluster is removed") {
    val world = simulated("failOnDataLoss" -> "false")
    world.publish(stream(east, west))
    Seq(east, west).foreach(fill(world, _, 5))
    Using.resource(world.start()) { run =>
      val start = run.start(StartPosition.Configured)
      world.logs(east).expire(topic(east), 0, 2)
      world.logs(west).expire(topic(west), 0, 3)
      val read                       = advance(run, start)
      def skipped(at: DynamicOffset) = run.figures(at)(ProgressMetric.RowsSkipped)
      assert(skipped(read) == "5")
      world.publish(stream(east))
      world.awaitRefresh()
      val (left, _) = readUntil(world, run, read)(!_.clusters.contains(west))
      assert(skipped(left) == "5")
    }
  }

  test("the history has the event clusterDrained with the drain of the last topic of a cluster") {
    Seq("drain", "drop").foreach { policy =>
      val world = simulated("onRemoved" -> policy, "removedRetention" -> "1h")
      world.publish(stream(east, west))
      fill(world, west, 3)
      Using.resource(world.start()) { run =>
        val (first, _) = readUntil(world, run, run.start(StartPosition.Configured))(reads(west, 0, 3))
        fill(world, west, 4)
        world.publish(stream(east))
        world.awaitRefresh()
        val (drained, rows) = readAll(run, first)
        val changes         = ChangeHistory(world.side)
        val last            = changes.map(_.number).max
        if (policy == "drain") {
          assert(rows == all(west, 7).drop(3))
          assert(changes.filter(_.number == last).map(e => e.event -> e.names) ==
            Seq("clusterDrained" -> Seq(west), "topicDrained" -> Seq(s"$west/${topic(west)}")))
        } else assert(rows.isEmpty && !changes.exists(_.event == "clusterDrained"))
        world.clock.pass(Duration.ofHours(2))
        val _ = readAll(run, drained)
        assert(history(world).count(_._1 == "clusterDrained") == (if (policy == "drain") 1 else 0))
        assert(history(world).contains("clusterRemoved" -> Seq(west)))
      }
    }
  }

  test("a micro-batch ends a drain after the holes of a history if the history has the other records up to its end") {
    val starts = SortedMap(LogPartition(topic(east), 0) -> OffsetRanges(20, Vector(2L -> 4L)))
    // A batch of another mode may have ended after the last hole.
    Seq(2L, 4L).foreach { offset =>
      val world = simulated("cutover" -> "stream")
      Seq(east, west).foreach(fill(world, _, 20))
      val begin = Using.resource(world.start())(world.begin(StartPosition.Offsets(starts), _))
      world.publish(stream(west))
      Using.resource(world.start()) { run =>
        val at           = begin.json.replace(""""0":2""", s""""0":$offset""")
        val (last, read) = readAll(run, world.source.position(at))
        assert(read == (offset until 4).map((east, 0, _)) ++ all(west, 20), at)
        assert(!last.json.contains(east) && history(world).contains("topicDrained" -> Seq(s"$east/${topic(east)}")))
      }
    }
  }

  test("a stream that moves in a bounded source is read if the old topic continues after the end of the source") {
    val millis  = 1700000000000L
    val offset  = (cluster: String, n: Long) => cluster -> SortedMap(LogPartition(topic(cluster), 0) -> n)
    val mapped  = Place.Offsets(SortedMap(offset(east, 6), offset(west, 1)))
    val cutover = Place.At(Instant.ofEpochMilli(millis + 6))
    for ((move, begin) <- Seq(None -> 0, Some(mapped) -> 1, Some(cutover) -> 1); order <- Seq("stream", "together")) {
      val world                                         = simulated("endingOffsets" -> "latest", "cutover" -> order)
      def write(cluster: String, from: Int, count: Int) =
        world.logs(cluster).write(topic(cluster), 0, (from until from + count).map(millis + _): _*)
      write(east, 0, 5)
      Using.resource(world.start()) { run =>
        val start = world.begin(StartPosition.Configured, run)
        write(east, 5, 2)
        write(west, 5, 3)
        publish(world, stream(west).copy(cutover = move))
        val (end, read) = readUntil(world, run, start)(at => reads(west, 0, 3)(at) && !at.clusters.contains(east))
        assert(read.sorted == all(east, 5) ++ all(west, 3).drop(begin) && run.evidence(end).nonEmpty, move)
        assert(run.figures(end)(ProgressMetric.RowsSkipped) == "0" && !history(world).exists(_._1 == "topicAbandoned"))
      }
    }
  }

  test("the drain of a bounded source does not wait for a partition that was created after the end of the source") {
    val world = simulated("endingOffsets" -> "latest", "cutover" -> "stream")
    fill(world, east, 5)
    Using.resource(world.start()) { run =>
      val start = world.begin(StartPosition.Configured, run)
      world.logs(east).create(topic(east), 2)
      world.logs(east).fill(topic(east), 1, 3)
      // The enumerator discovers topics once a day.
      world.clock.pass(Duration.ofDays(2))
      val (first, _) = readAll(run, start)
      fill(world, east, 2)
      fill(world, west, 3)
      val ends  = SortedMap(LogPartition(topic(east), 0) -> 6L, LogPartition(topic(east), 1) -> 3L)
      val begin = SortedMap(LogPartition(topic(west), 0) -> 1L)
      val move  = Place.Offsets(SortedMap(east -> ends, west -> begin))
      publish(world, stream(west).copy(cutover = Some(move)))
      val (end, read) = readUntil(world, run, first)(at => reads(west, 0, 3)(at) && !at.clusters.contains(east))
      assert(read == all(west, 3).drop(1) && run.evidence(end).nonEmpty)
    }
  }
}
