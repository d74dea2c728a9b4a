// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.enumerator.document

import java.time.{Duration, Instant}

import scala.collection.immutable.{SortedMap, SortedSet}

import splice.kafka.Place
import splice.kafka.dynamic.internal.change.{ChangeRules, OnRemoved, RemovalRules}
import splice.kafka.dynamic.internal.enumerator.SimulatedClusters.Both
import splice.kafka.dynamic.internal.enumerator.{RepeatedTopics, SimulatedClusters, StoppedStreams}
import splice.kafka.dynamic.internal.split.{ClusterTopic, DynamicPosition, DynamicSplitRange}
import splice.kafka.dynamic.internal.state.{AppliedMetadata, StreamGroups, TopicState}
import splice.kafka.dynamic.{KafkaCluster, KafkaStream, StreamMetadata}
import splice.kafka.internal.split.KafkaPosition
import splice.source.errors.SpliceException
import splice.source.{LogPartition, StartPosition}

/** Tests of names that belong to the same cluster. */
final class SharedClusterSuite extends StoppedStreams {

  private val (own, retention) = (topic(east), Duration.ofHours(1))

  /** Returns a document with one stream, which has topics of the two names of a cluster, and optionally of another
    * cluster.
    */
  private def document(generation: Long, other: Boolean, topics: (String, Seq[String])*): StreamMetadata = {
    val servers = topics.map(_._1 -> east) ++ Option.when(other)(west -> west)
    StreamMetadata(
      Some(generation),
      SortedMap.from(servers.map { case (name, at) =>
        name -> KafkaCluster(name, SortedMap("bootstrap.servers" -> s"$at:9092"))
      }),
      SortedMap("s" -> KafkaStream(
        "s",
        SortedMap.from(topics.map { case (name, all) => name -> SortedSet.from(all) }) ++
          Option.when(other)(west -> SortedSet(topic(west)))
      ))
    )
  }

  private def begun(options: (String, String)*): SimulatedClusters = {
    val world = simulated(options :+ ("removedRetention" -> s"${retention.toHours}h"): _*)
    world.seesOwnTopics = true
    world.logs(east).create(Both, 1)
    Seq(own, Both).foreach(world.logs(east).fill(_, 0, 3))
    world
  }

  private def rejected(run: => Any): Unit = {
    val error = intercept[SpliceException](run)
    assert(error.getCondition == "SPLICE_METADATA.DUPLICATE_CLUSTER", error)
  }

  test("a corrected document continues the query after a document had a topic under two names of one cluster") {
    for (policy <- Seq("drain", "drop"); kept <- Seq("one", "two")) {
      val world = begun("onRemoved" -> policy)
      world.publish(stream(west))
      val first = in(world)(run => readAll(run, world.begin(StartPosition.Configured, run))._1)
      world.publish(document(3, true, "one" -> Seq(own), "two" -> Seq(own)))
      Seq(1, 2).foreach(_ => rejected(in(world)(readAll(_, world.source.position(first.json)))))
      world.publish(document(4, true, kept -> Seq(own)))
      val left = in(world) { run =>
        val (at, rows) = readAll(run, world.source.position(first.json))
        assert(rows == all(kept, 3), policy)
        fill(world, east, 1)
        val (end, more) = readAll(run, at)
        assert(more == all(kept, 4).drop(3))
        end
      }
      in(world)(run => assert(readAll(run, world.source.position(left.json))._2.isEmpty))
    }
  }

  test("a document without a topic that it had under two names of one cluster reads the topic once") {
    Seq(None, Some(Place.Earliest)).foreach { start =>
      val world = begun()
      world.publish(stream(west))
      val first = in(world)(run => readAll(run, world.begin(StartPosition.Configured, run))._1)
      val both  = document(3, true, "one" -> Seq(own), "two" -> Seq(own))
      world.publish(both.copy(streams = both.streams.map { case (name, s) => name -> s.copy(start = start) }))
      rejected(in(world)(readAll(_, world.source.position(first.json))))
      world.publish(stream(west).copy(topics = document(4, true).streams("s").topics))
      in(world) { run =>
        val (at, rows) = readAll(run, world.source.position(first.json))
        fill(world, east, 1)
        assert(rows == all("one", 3) && readAll(run, at)._2.isEmpty, start)
        assert(history(world).collect { case ("topicDrained", names) => names }.flatten.toSet ==
          Set(s"one/$own", s"two/$own"))
      }
    }
  }

  test("a first document with a topic under two names of one cluster is an error, and a corrected document starts") {
    val world = begun()
    world.publish(document(2, false, "one" -> Seq(own), "two" -> Seq(own)))
    Seq(1, 2).foreach(_ => rejected(in(world)(world.begin(StartPosition.Configured, _))))
    world.publish(document(3, false, "two" -> Seq(own)))
    in(world)(run => assert(readAll(run, world.begin(StartPosition.Configured, run))._2 == all("two", 3)))
  }

  test("a topic that moves between two names of one cluster does not stop other topics, and is never read twice") {
    Seq("drain", "drop").foreach { policy =>
      val world = begun("onRemoved" -> policy)
      world.publish(document(2, false, "one" -> Seq(own), "two" -> Seq(Both)))
      val left = in(world) { run =>
        val (first, rows) = readAll(run, world.begin(StartPosition.Configured, run))
        assert(rows.sorted == all("one", 3) ++ all("two", 3))
        world.publish(document(3, false, "one" -> Seq(own, Both)))
        world.awaitRefresh()
        val (second, none) = readAll(run, first)
        Seq(own, Both).foreach(world.logs(east).fill(_, 0, 2))
        val (third, rest) = readAll(run, second)
        assert(none.isEmpty && rest == all("one", 5).drop(3), policy)
        third
      }
      world.clock.pass(retention.multipliedBy(2))
      in(world) { run =>
        val (waiting, none) = readAll(run, world.source.position(left.json))
        assert(none.isEmpty, policy)
        world.publish(document(4, false, "one" -> Seq(own), "two" -> Seq(Both)))
        world.awaitRefresh()
        val next = advance(run, waiting)
        val back = run.splits(waiting, next).collect { case r: DynamicSplitRange =>
          (r.cluster, r.range.partition.topic, r.range.from, r.range.until)
        }
        assert(back == Seq(("two", Both, 3L, 5L)), policy)
      }
    }
  }

  test("a topic that was never read under its second name does not remain a removed topic that is drained") {
    val world = begun()
    world.publish(document(2, false, "one" -> Seq(own)))
    in(world) { run =>
      val (first, _) = readAll(run, world.begin(StartPosition.Configured, run))
      world.publish(document(3, false, "one" -> Seq(own), "two" -> Seq(own)))
      world.awaitRefresh()
      val (second, none) = readAll(run, first)
      world.publish(document(4, false, "one" -> Seq(own)))
      world.awaitRefresh()
      fill(world, east, 1)
      val (_, rows) = readAll(run, second)
      assert(none.isEmpty && rows == all("one", 4).drop(3))
      assert(history(world).contains("topicDrained" -> Seq(s"two/$own")))
    }
  }

  /** Returns a document that moves the own topic to a name of its cluster by offsets. */
  private def moving(generation: Long, to: String, offsets: (String, Long)*): StreamMetadata = {
    val found = document(generation, true, to -> Seq(own))
    val cut   = Place.Offsets(SortedMap.from(offsets.map { case (name, offset) =>
      name -> SortedMap(LogPartition(own, 0) -> offset)
    }))
    found.copy(streams = found.streams.map { case (name, s) => name -> s.copy(cutover = Some(cut)) })
  }

  /** Runs a query that has read three rows under the first name, and that then moves to the second name by offsets. */
  private def moved(offsets: (String, Long)*): (SimulatedClusters, String) = {
    val world = begun()
    world.publish(document(2, true, "one" -> Seq(own)))
    val first = in(world)(run => readAll(run, world.begin(StartPosition.Configured, run))._1)
    fill(world, east, 4)
    world.publish(moving(3, "two", offsets: _*))
    world -> first.json
  }

  private def from(name: String, offsets: Range): Seq[(String, Int, Long)] = offsets.map(o => (name, 0, o.toLong))

  test("a topic that moves by offsets between two names of one cluster is read once") {
    val (world, first) = moved("one" -> 5, "two" -> 5)
    val second         = in(world) { run =>
      val (at, rows) = readAll(run, world.source.position(first))
      assert(rows.sorted == from("one", 3 until 5) ++ from("two", 5 until 7))
      at.json
    }
    in(world) { run =>
      fill(world, east, 1)
      val (third, rows) = readAll(run, world.source.position(second))
      assert(rows == from("two", 7 until 8))
      // The rows of the second name would be read again.
      world.publish(document(4, true, "one" -> Seq(own)))
      world.awaitRefresh()
      fill(world, east, 1)
      val (fourth, more) = readAll(run, third)
      assert(more == from("two", 8 until 9) && run.figures(fourth)("waitingGroups").contains("DUPLICATE_CLUSTER"))
      world.publish(moving(5, "one", "two" -> 10, "one" -> 10))
      world.awaitRefresh()
      fill(world, east, 2)
      assert(readAll(run, fourth)._2.sorted == from("one", 10 until 11) ++ from("two", 9 until 10))
    }
  }

  test("a topic that returns by offsets to a name of its cluster, whose position is not kept, is read once") {
    val (world, first) = moved("one" -> 5, "two" -> 5)
    in(world) { run =>
      val (second, _) = readAll(run, world.source.position(first))
      world.clock.pass(retention.multipliedBy(2))
      val (third, none) = readAll(run, second)
      assert(none.isEmpty && history(world).contains("topicForgotten" -> Seq(s"one/$own")))
      world.publish(moving(4, "one", "two" -> 8, "one" -> 8))
      world.awaitRefresh()
      fill(world, east, 2)
      assert(readAll(run, third)._2.sorted == from("one", 8 until 9) ++ from("two", 7 until 8))
    }
  }

  test(
    "a document that corrects a move between two names of one cluster continues the query, and reads each row once"
  ) {
    def corrected(topics: (String, Seq[String])*) = document(4, true, topics: _*)
    for {
      (start, next, expected) <- Seq(
        (5L, corrected("one" -> Seq(own)), from("one", 3 until 7)),
        (5L, corrected("two" -> Seq(own)), from("one", 3 until 5) ++ from("two", 5 until 7)),
        (5L, corrected(), from("one", 3 until 5) ++ from("two", 5 until 7)),
        (2L, corrected("one" -> Seq(own)), from("one", 3 until 7))
      )
    } {
      val (world, first) = moved("one" -> 5, "two" -> start)
      // The driver is killed after the change, and before the batch.
      in(world) { run =>
        val from = world.source.position(first)
        if (start < 5) rejected(advance(run, from)) else { val _ = advance(run, from) }
      }
      world.publish(next)
      val rows = in(world)(run => readAll(run, world.source.position(first))._2)
      assert(rows.sorted == expected, s"$start ${next.streams("s").topics}")
    }
  }

  test("a topic that another group waits to begin at offsets is found under another name of its cluster") {
    val (now, t)                  = (Instant.parse("2026-01-01T00:00:00Z"), "t")
    def position(offset: Long)    = KafkaPosition.of(Seq(LogPartition(t, 0) -> offset))
    def document(topics: String*) = StreamMetadata(
      Some(2L),
      SortedMap.from(Seq(east, west).map(c => c -> KafkaCluster(c, SortedMap("bootstrap.servers" -> s"$c:9092")))),
      SortedMap(
        "s1" -> KafkaStream("s1", SortedMap(east -> SortedSet.from(topics))),
        "s2" -> KafkaStream("s2", SortedMap(west -> SortedSet(t)))
      )
    )
    val first = AppliedMetadata.first(document("z"))
    val base  = first.copy(topics =
      first.topics + (ClusterTopic(west, t) -> TopicState.Waiting("s2", None, None, position(100))) +
        (ClusterTopic(east, t)              -> TopicState.Removed("s1", now, position(50)))
    )
    val rules = new ChangeRules(RemovalRules(OnRemoved.Drain, maxFraction = 1.0))
    val at    = DynamicPosition.of(0, Seq(east -> KafkaPosition.of(Seq(LogPartition("z", 0) -> 5L))))
    val parts = StreamGroups.changed(base, document("z", t))
    assert(parts.map(_.streams) == Seq(SortedSet("s1")))
    val part     = parts.head
    def change   = rules.take(part.at, part.document, part.streams, at, now, now, _ => true, _ => false)
    val rejected = RepeatedTopics.rejection(base, part, at, _ => Some("id"))(change)
    assert(rejected.nonEmpty)
  }
}
