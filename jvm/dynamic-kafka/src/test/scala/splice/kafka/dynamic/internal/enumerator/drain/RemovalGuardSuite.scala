// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.enumerator.drain

import java.time.Duration

import scala.collection.immutable.{SortedMap, SortedSet}
import scala.util.Using

import splice.kafka.dynamic.internal.enumerator.{RemovedTopics, SimulatedClusters, WaitingGroups}
import splice.kafka.dynamic.internal.split.DynamicOffset
import splice.kafka.dynamic.internal.state.ChangeEntries
import splice.kafka.dynamic.{KafkaCluster, KafkaStream, StreamMetadata}
import splice.source.errors.SpliceException
import splice.source.{SplitEnumerator, StartPosition}
import splice.testkit.LoggedMessages

/** Tests of documents that remove topics in several runs. */
final class RemovalGuardSuite extends RemovedTopics {

  /** Query over one stream with initially ten topics and a removal limit of half of the topics. */
  final private class Guarded {
    val world = new SimulatedClusters(2, 10, 1, "discoveryInterval" -> "5ms")
    publish(east, 10)

    private var at: Option[DynamicOffset] = None

    /** Replaces the stream by a number of topics of a cluster. */
    private def publish(cluster: String, topics: Int): Unit = world.publish(KafkaStream(
      "s",
      SortedMap(cluster -> SortedSet.from((0 until topics).map(n => f"$cluster-topic-$n%03d")))
    ))

    /** Plans batches with the latest document in a separate run. */
    def run(): Unit = Using.resource(world.start()) { run =>
      val next = advance(run, at.getOrElse(world.begin(StartPosition.Configured, run)))
      world.awaitRefresh()
      at = Some(advance(run, next))
    }

    /** Topics of the last change. */
    def topics: Set[String] = new ChangeEntries(world.side).last.get.streamOf.keySet.map(_.topic).toSet

    /** Publishes a document. Returns the number of topics after a run. */
    def after(cluster: String, count: Int): Int = {
      publish(cluster, count)
      run()
      topics.size
    }
  }

  test("the removals of each document are compared with the topics before the document") {
    val query = new Guarded
    query.run()
    assert(query.after(east, 4) == 10)
    assert(query.after(east, 5) == 5)
    assert(query.after(east, 2) == 5)
    assert(query.after(east, 3) == 3 && query.after(east, 2) == 2 && query.after(east, 1) == 1)
  }

  test("the warning about a document that removes too many topics is repeated every 5 minutes") {
    val world = new SimulatedClusters(2, 10, 1, "discoveryInterval" -> "5ms")
    Using.resource(world.start()) { run =>
      val first           = world.begin(StartPosition.Configured, run)
      def warnings(): Int = {
        world.awaitRefresh()
        val (_, messages) = LoggedMessages.during(classOf[WaitingGroups].getName)(advance(run, first))
        messages.count(_.contains("REMOVAL_LIMIT_EXCEEDED"))
      }
      publish(world, stream(east))
      assert(warnings() == 1 && warnings() == 0)
      (1 to 2).foreach { _ =>
        world.clock.pass(Duration.ofMinutes(6))
        assert(warnings() == 1 && warnings() == 0)
      }
    }
  }

  test("a stream that moves to other topics counts no removal") {
    val query = new Guarded
    query.run()
    assert(query.after(west, 10) == 10 && query.topics.forall(_.startsWith(west)))
    assert(query.after(east, 6) == 6 && query.topics.forall(_.startsWith(east)))
    assert(query.after(west, 2) == 6)
  }

  test("confirmRemovals permits the removal in the error, even with the same generation") {
    val query = new Guarded
    query.run()
    assert(query.after(east, 6) == 6)
    assert(query.after(east, 2) == 6)
    query.world.confirmRemovals = Some(3)
    query.run()
    assert(query.topics.size == 6)
    query.world.confirmRemovals = Some(4)
    query.run()
    assert(query.topics.size == 2)
    query.world.confirmRemovals = None
    assert(query.after(east, 1) == 1)
  }

  test("a document that removes too many topics renews client properties only, including at a restart") {
    val world     = new SimulatedClusters(2, 3, 1, "discoveryInterval" -> "5ms")
    val topics    = (0 until 3).map(n => f"$east-topic-$n%03d")
    val of        = SortedMap(east -> SortedSet.from(topics), west -> SortedSet(topic(west)))
    def servers   = (name: String) => SortedMap("bootstrap.servers" -> s"$name:9092")
    val renewed   = servers("elsewhere") + ("request.timeout.ms" -> "1234")
    val rejected  = SortedMap(east -> SortedSet(topic(east)))
    def timeout() = {
      assert(world.clients(east).properties.get("bootstrap.servers").contains(s"$east:9092"))
      world.clients(east).properties.get("request.timeout.ms")
    }

    def written(at: DynamicOffset, run: SplitEnumerator[DynamicOffset]): (DynamicOffset, Int) = {
      topics.foreach(world.logs(east).fill(_, 0, 1))
      fill(world, west, 1)
      val (end, rows) = readAll(run, at)
      end -> rows.size
    }

    world.publish(KafkaStream("s", of))
    val last = Using.resource(world.start()) { run =>
      val (first, some) = written(world.begin(StartPosition.Configured, run), run)
      assert(some == 4 && timeout().isEmpty)
      world.publish(StreamMetadata(
        Some(9L),
        SortedMap(east -> KafkaCluster(east, renewed), west -> KafkaCluster(west, servers(west), active = false)),
        SortedMap("s"  -> KafkaStream("s", rejected))
      ))
      world.inactive = Set(west)
      world.awaitRefresh()
      val (second, rest) = written(first, run)
      assert(rest == 4 && timeout().contains("1234"))
      assert(run.figures(second)("waitingGroups").contains("REMOVAL_LIMIT_EXCEEDED"))
      second
    }
    world.clients.clear()
    Using.resource(world.start()) { run =>
      assert(written(last, run)._2 == 4 && timeout().contains("1234"))
    }
    assert(new ChangeEntries(world.side).last.exists(_.number == 0))
  }

  test("onRemoved = fail: the query fails and does not store the removal, and each remedy continues the checkpoint") {
    // Changed options, the clusters in the document, and the rows that the query reads of the removed topic.
    Seq[(Seq[(String, String)], Seq[String], Int)](
      (Seq("onRemoved" -> "drain"), Seq(east), 5),
      (Seq("onRemoved" -> "drop"), Seq(east), 3),
      (Nil, Seq(east, west), 5)
    ).foreach { case (changed, listed, ofWest) =>
      val world = simulated("onRemoved" -> "fail")
      world.publish(stream(east, west))
      fill(world, east, 5)
      fill(world, west, 3)

      def fails(trigger: => DynamicOffset): Unit = {
        val before = world.side.keys("change")
        val error  = intercept[SpliceException](trigger)
        assert(error.getCondition == "SPLICE_DYNAMIC_KAFKA.TOPIC_REMOVED", error)
        assert(error.getMessage.contains(s"The metadata removes topics: $west/${topic(west)}."), error)
        assert(world.side.keys("change") == before && before.size == 1)
      }

      val (first, some) = Using.resource(world.start()) { run =>
        val (end, read) = readUntil(world, run, run.start(StartPosition.Configured))(at =>
          reads(east, 0, 5)(at) && reads(west, 0, 3)(at)
        )
        publish(world, stream(east))
        fails(advance(run, end))
        end -> read
      }
      Seq(east, west).foreach(fill(world, _, 2))
      Using.resource(world.start())(run => fails(advance(run, world.source.position(first.json))))
      world.publish(stream(listed: _*))
      Using.resource(world.start(changed = changed)) { run =>
        val (_, rest) = readUntil(world, run, world.source.position(first.json))(at =>
          reads(east, 0, 7)(at) && (if (listed.contains(west)) reads(west, 0, 5)(at) else !at.clusters.contains(west))
        )
        assert((some ++ rest).sorted == all(east, 7) ++ all(west, ofWest), changed)
      }
    }
  }
}
