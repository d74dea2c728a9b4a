// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.enumerator.document

import java.time.Duration

import scala.collection.immutable.{SortedMap, SortedSet}
import scala.concurrent.ExecutionContext.Implicits.global
import scala.concurrent.duration.DurationInt
import scala.concurrent.{Await, Future}
import scala.util.Using

import splice.kafka.dynamic.internal.enumerator.SimulatedClusters.Both
import splice.kafka.dynamic.internal.enumerator.StoppedStreams
import splice.kafka.dynamic.internal.reader.{ClusterReads, DynamicReaders}
import splice.kafka.dynamic.internal.split.{DynamicOffset, DynamicSplitRange}
import splice.kafka.dynamic.{KafkaCluster, KafkaStream, StreamCutover, StreamMetadata, StreamPlace}
import splice.kafka.internal.reader.KafkaReaders
import splice.source.{LogPartition, SplitEnumerator, StartPosition}

/** Tests of clusters that are renamed in the metadata. */
final class RenamedClusterSuite extends StoppedStreams {

  private def at(name: String, server: String, formerly: String*): KafkaCluster =
    KafkaCluster(name, SortedMap("bootstrap.servers" -> s"$server:9092"), active = true, formerly)

  private def document(generation: Long, name: String, formerly: String*): StreamMetadata =
    ofTopic(topic(east), generation, at(name, east, formerly: _*))

  /** Returns a document with one stream, which has a topic of all clusters. */
  private def ofTopic(topic: String, generation: Long, clusters: KafkaCluster*): StreamMetadata = StreamMetadata(
    Some(generation),
    SortedMap.from(clusters.map(c => c.name -> c)),
    SortedMap("s" -> KafkaStream("s", SortedMap.from(clusters.map(_.name -> SortedSet(topic)))))
  )

  private def named(run: SplitEnumerator[DynamicOffset], from: DynamicOffset, until: DynamicOffset) =
    run.splits(from, until).collect { case r: DynamicSplitRange => (r.cluster, r.range.from, r.range.until) }

  test(
    "a renamed cluster continues at its positions, with one document or with two documents and a removal between them"
  ) {
    for (policy <- Seq("drain", "drop"); steps <- Seq(1, 2)) {
      val world = simulated("onRemoved" -> policy)
      world.publish(document(2, "old"))
      fill(world, east, 5)
      Using.resource(world.start()) { run =>
        val (first, _) = readAll(run, run.start(StartPosition.Configured))
        if (steps == 2) {
          world.publish(world.generation + 1, stream(west))
          world.awaitRefresh()
        }
        val (left, _) = readAll(run, first)
        fill(world, east, 2)
        world.publish(document(9, "new", "other", "old"))
        world.awaitRefresh()
        val next = advance(run, left)
        assert(named(run, left, next) == Seq(("new", 5L, 7L)), s"$policy, $steps")
        // A restart has the same rows, including a span across the rename.
        Using.resource(world.start()) { again =>
          val (from, until) = (world.source.position(first.json), world.source.position(next.json))
          assert(named(again, from, until) == Seq(("new", 5L, 7L)))
          assert(advance(again, until) == until)
        }
      }
    }
  }

  test("a bounded source does not count offsets that readers skipped before a rename") {
    for (isLate <- Seq(false, true)) {
      val world = simulated("endingOffsets" -> "latest")
      world.publish(document(2, "old"))
      fill(world, east, 5)
      val end = in(world) { run =>
        val (left, _) = readAll(run, world.begin(StartPosition.Configured, run))
        val report    = skipped(east, 1, 2, scope = Some("old"))
        if (!isLate) run.reported(Seq(report))
        world.publish(document(3, "new", "old"))
        world.awaitRefresh()
        val next = advance(run, left)
        assert(next.json.contains("new"))
        if (!isLate) assert(held(run, next) == Set(topic(east) -> Seq(0L -> 1L, 2L -> 5L)))
        else world.listeners.receive(report)
        next
      }
      assert(held(world, end.json) == Set(topic(east) -> Seq(0L -> 1L, 2L -> 5L)), s"isLate: $isLate")
    }
  }

  test("reports of a replayed batch belong to a cluster that was renamed since") {
    val world = simulated()
    in(world) { run =>
      val names = Seq("one", "two", "three")
      val at    = names.indices.scanLeft(Option.empty[DynamicOffset]) { (from, i) =>
        world.publish(document(i + 2L, names(i), names.take(i): _*))
        if (i > 0) world.awaitRefresh()
        fill(world, east, 1)
        Some(readAll(run, from.getOrElse(world.begin(StartPosition.Configured, run)))._1)
      }.flatten
      val ranges = run.splits(at.head, at(1))
      assert(named(run, at.head, at(1)) == Seq(("two", 1L, 2L)))
      val keys = run.readers(world.source.schema, ranges) match {
        case DynamicReaders(clusters, _, _) =>
          clusters.collect { case (name, of: KafkaReaders) => name -> of.settings.reportKey }
        case other => fail(s"$other")
      }
      assert(keys == Map("two" -> ClusterReads.key("simulated", "one")))
    }
  }

  test("one document may rename a cluster and move its stream at a time") {
    val world = simulated()
    val time  = world.clock.instant().plusSeconds(600)
    world.publish(document(2, "old"))
    world.logs(east).write(topic(east), 0, time.toEpochMilli - 2, time.toEpochMilli - 1)
    Using.resource(world.start()) { run =>
      val (first, _) = readAll(run, run.start(StartPosition.Configured))
      val renamed    = document(3, "new", "old").clusters
      val target     = KafkaCluster("target", SortedMap("bootstrap.servers" -> s"$west:9092"))
      val moving     = KafkaStream("s", SortedMap("target" -> SortedSet(topic(west))), Some(StreamCutover.At(time)))
      world.publish(StreamMetadata(Some(3L), renamed + ("target" -> target), SortedMap("s" -> moving)))
      world.awaitRefresh()
      world.clock.pass(Duration.ofSeconds(700))
      Seq(east, west).foreach(cluster => world.logs(cluster).write(topic(cluster), 0, time.toEpochMilli))
      val (end, rest) = readUntil(world, run, first)(_.of("target").get(LogPartition(topic(west), 0)).contains(1L))
      assert(rest == Seq(("target", 0, 0L)) && !end.json.contains("new"))
    }
  }

  test("a cluster with a new name is not read without its earlier name, and the query continues") {
    Seq("drain", "drop").foreach { policy =>
      val world = simulated("onRemoved" -> policy)
      world.publish(document(2, "old"))
      fill(world, east, 5)
      Using.resource(world.start()) { run =>
        val (first, _) = readAll(run, run.start(StartPosition.Configured))
        fill(world, east, 2)
        world.publish(document(3, "new"))
        world.awaitRefresh()
        val (held, drained) = readAll(run, first)
        assert(drained == (if (policy == "drain") Seq(5L, 6L).map(("old", 0, _)) else Nil))
        fill(world, east, 1)
        assert(advance(run, held).json == held.json)
        world.publish(document(4, "new", "old"))
        world.awaitRefresh()
        val (_, rest) = readAll(run, held)
        assert((drained ++ rest).map(_._3) == Seq(5L, 6L, 7L), policy)
      }
    }
  }

  test("a run to the end does not wait for a cluster with a new name without its earlier name") {
    Seq(None, Some(StreamPlace.Latest)).foreach { start =>
      val world = simulated("fetchOffset.retryIntervalMs" -> "0")
      world.publish(document(2, "old"))
      fill(world, east, 5)
      val first = in(world)(run => readAll(run, world.begin(StartPosition.Configured, run))._1)
      fill(world, east, 2)
      val renamed = document(3, "new")
      world.publish(renamed.copy(streams = renamed.streams.map { case (name, s) => name -> s.copy(start = start) }))
      in(world) { run =>
        run.freeze()
        val rest = Future(readAll(run, world.source.position(first.json))._2)
        assert(Await.result(rest, 1.minute) == Seq(5L, 6L).map(("old", 0, _)), start)
      }
    }
  }

  test("another cluster may get the old name of a renamed cluster") {
    val world = simulated()
    Seq(east, west).foreach { cluster =>
      world.logs(cluster).create(Both, 1)
      world.logs(cluster).fill(Both, 0, 3)
    }
    val renamed = at("new", east, "old")
    world.publish(ofTopic(Both, 2, at("old", east)))
    val left = in(world) { run =>
      val (first, _) = readAll(run, world.begin(StartPosition.Configured, run))
      world.publish(ofTopic(Both, 3, renamed))
      world.awaitRefresh()
      val (second, none) = readAll(run, first)
      world.publish(ofTopic(Both, 4, renamed, at("old", west)))
      world.awaitRefresh()
      val (third, rows) = readAll(run, second)
      assert(none.isEmpty && rows == all("old", 3))
      third
    }
    world.logs(east).fill(Both, 0, 2)
    in(world) { run =>
      val (fourth, rows) = readAll(run, world.source.position(left.json))
      assert(rows == all("new", 5).drop(3))
      // The entries of the second cluster have another name than the cluster, which may be renamed too.
      world.publish(ofTopic(Both, 5, renamed, at("other", west, "old")))
      world.awaitRefresh()
      world.logs(west).fill(Both, 0, 1)
      assert(readAll(run, fourth)._2 == all("other", 4).drop(3))
    }
  }

  test("a batch that is repeated before the rename of its cluster uses the properties of the renamed cluster") {
    Seq("1.0", "0.1").foreach { fraction =>
      val world = simulated("maxRemovalFraction" -> fraction)
      world.publish(document(2, "old"))
      fill(world, east, 5)
      val (from, until) = in(world) { run =>
        val from = world.begin(StartPosition.Configured, run)
        (from, advance(run, from))
      }
      val renamed = document(9, "new", "old")
      val racked  = renamed.clusters("new").properties + ("client.rack" -> "r")
      world.publish(renamed.copy(clusters = renamed.clusters.map { case (name, c) =>
        name -> c.copy(properties = racked)
      }))
      in(world) { run =>
        run.replay(from, until)
        assert(world.clients("old").properties == racked && named(run, from, until) == Seq(("old", 0L, 5L)), fraction)
        fill(world, east, 2)
        assert(named(run, until, advance(run, until)) == Seq(("new", 5L, 7L)), fraction)
      }
    }
  }

  test("a cluster that had the new name without its earlier name for some documents is renamed") {
    for (policy <- Seq("drain", "drop"); retention <- Seq(Duration.ZERO, Duration.ofDays(30))) {
      val world = simulated("onRemoved" -> policy)
      world.publish(document(2, "old"))
      fill(world, east, 5)
      in(world) { run =>
        val (first, _) = readAll(run, run.start(StartPosition.Configured))
        val held       = Seq(document(3, "new"), document(4, "old")).foldLeft(first) { (at, next) =>
          world.publish(next)
          world.awaitRefresh()
          readAll(run, at)._1
        }
        world.clock.pass(retention)
        val (kept, _) = readAll(run, held)
        world.publish(document(5, "new", "old"))
        world.awaitRefresh()
        fill(world, east, 2)
        val (_, rows) = readAll(run, kept)
        assert(rows == all("new", 7).drop(5), s"$policy, $retention")
      }
    }
  }

  test("a rename applies to the start and the stop of a stream that the same document removes") {
    val earliest = Option[StreamPlace](StreamPlace.Earliest)
    for (
      (start, stop, rows) <-
        Seq((Some(offsets(west -> 3)), None, 3 until 4), (earliest, Some(offsets(west -> 2)), 0 until 2))
    ) {
      val world = simulated()
      fill(world, west, 4)
      in(world) { run =>
        val first = world.begin(StartPosition.Configured, run)
        world.logs(west).away = Some(_ => true)
        publish(world, stream(east), KafkaStream("t", stream(west).topics, start = start, stop = stop))
        val (waiting, _) = readUntil(world, run, first)(_.change > 0)
        val clusters     = Seq(at(east, east), at("new", west, west))
        world.publish(StreamMetadata(
          Some(9),
          SortedMap.from(clusters.map(c => c.name -> c)),
          SortedMap("s" -> stream(east))
        ))
        world.awaitRefresh()
        val (removed, _) = readUntil(world, run, waiting)(_.change > 1)
        world.logs(west).away = None
        val drained   = (_: Any) => history(world).contains("topicDrained" -> Seq(s"new/${topic(west)}"))
        val (_, read) = readUntil(world, run, removed)(drained)
        assert(read == rows.map(n => ("new", 0, n.toLong)), start)
      }
    }
  }
}
