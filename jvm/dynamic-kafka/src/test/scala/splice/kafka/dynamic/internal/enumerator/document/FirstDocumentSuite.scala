// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.enumerator.document

import java.time.Duration
import java.util.concurrent.atomic.AtomicInteger

import scala.collection.immutable.{SortedMap, SortedSet}
import scala.util.Using

import splice.kafka.dynamic.internal.enumerator.RemovedTopics
import splice.kafka.dynamic.{KafkaCluster, KafkaStream, StreamMetadata}
import splice.source.errors.SpliceException
import splice.source.{Limits, StartPosition}

/** Tests of the first document of a checkpoint, and of documents that are not applied. */
final class FirstDocumentSuite extends RemovedTopics {

  private def typo(cluster: String): KafkaStream = KafkaStream("s", SortedMap(cluster -> SortedSet("ordrs")))

  test("a corrected first document continues on the same checkpoint") {
    val world = simulated("fetchOffset.retryIntervalMs" -> "0")
    Seq(east, west).foreach(fill(world, _, 3))
    world.publish(typo(east))
    world.logs(east).named = Set("ordrs")
    Seq(1, 2).foreach { _ =>
      val error = intercept[SpliceException](Using.resource(world.start())(_.start(StartPosition.Configured)))
      assert(error.getCondition == "SPLICE_KAFKA_OPTION.TOPIC_NOT_FOUND" && error.getMessage.contains("ordrs"))
    }
    world.publish(stream(west))
    val start = Using.resource(world.start()) { run =>
      val start = world.begin(StartPosition.Configured, run)
      assert(readAll(run, start)._2 == all(west, 3))
      start
    }
    world.logs(east).named = Set.empty
    // A durable start keeps its document.
    world.publish(stream(west, east))
    Using.resource(world.start()) { run =>
      assert(run.splits(start, start).isEmpty)
      assert(readAll(run, world.source.position(start.json))._2.sorted == all(east, 3) ++ all(west, 3))
    }
  }

  test("a first document without a selected stream is an error that names the stream, and is not stored") {
    val world = simulated("streams" -> "s,other")
    Seq(east, west).foreach(fill(world, _, 3))
    val error = intercept[SpliceException](Using.resource(world.start())(_.start(StartPosition.Configured)))
    assert(error.getCondition == "SPLICE_METADATA.STREAM_NOT_FOUND", error)
    assert(error.getMessage.contains("The metadata has no stream other."), error)
    assert(world.side.keys("change").isEmpty)
    world.publish(stream(east), KafkaStream("other", stream(west).topics))
    Using.resource(world.start()) { run =>
      assert(readAll(run, run.start(StartPosition.Configured))._2.sorted == all(east, 3) ++ all(west, 3))
    }
  }

  test("the first start waits for an unavailable cluster up to clusterTimeout, but not for a missing topic") {
    val world = simulated("clusterTimeout" -> "1min", "fetchOffset.retryIntervalMs" -> "0")
    fill(world, east, 3)
    val error = intercept[SpliceException](Using.resource(world.start()) { run =>
      // Each attempt takes a part of the timeout.
      world.logs(east).away = Some { _ => world.clock.pass(Duration.ofSeconds(20)); true }
      run.start(StartPosition.Configured)
    })
    assert(error.getCondition == "SPLICE_KAFKA_CONNECTION.CLUSTER_UNAVAILABLE" && error.getMessage.contains(east))
    world.logs(east).away = None
    Using.resource(world.start())(run => assert(readAll(run, run.start(StartPosition.Configured))._2 == all(east, 3)))
  }

  test("a document that is older than an unchanged newer document is not applied") {
    val world = simulated()
    Seq(east, west).foreach(fill(world, _, 3))
    Using.resource(world.start()) { run =>
      val (first, _) = readUntil(world, run, run.start(StartPosition.Configured))(reads(east, 0, 3))
      world.publish(world.generation + 8, stream(east))
      world.awaitRefresh()
      val same = advance(run, first)
      world.publish(world.generation - 3, stream(west))
      world.awaitRefresh()
      assert(same == first && advance(run, same) == first)
      world.publish(world.generation + 4, stream(west))
      world.awaitRefresh()
      assert(readUntil(world, run, same)(reads(west, 0, 3))._2 == all(west, 3))
    }
  }

  test("a document that is older than an unchanged newer document is not applied after a restart") {
    val world = simulated()
    Seq(east, west).foreach(fill(world, _, 3))
    val first = Using.resource(world.start()) { run =>
      val (at, _) = readUntil(world, run, run.start(StartPosition.Configured))(reads(east, 0, 3))
      world.publish(world.generation + 8, stream(east))
      world.awaitRefresh()
      advance(run, at)
    }
    val newer = world.generation
    world.publish(newer - 3, stream(west))
    Using.resource(world.start()) { run =>
      val at = world.source.position(first.json)
      assert(advance(run, at) == at && advance(run, at) == at)
      assert(run.figures(at)("metadataRejectionsTotal") == "1")
      world.publish(newer, stream(west))
      assert(readUntil(world, run, at)(reads(west, 0, 3))._2 == all(west, 3))
    }
  }

  test("a service that increases the generation at each poll does not enlarge the side log") {
    val world = simulated()
    fill(world, east, 3)
    Using.resource(world.start()) { run =>
      val (first, _) = readUntil(world, run, run.start(StartPosition.Configured))(reads(east, 0, 3))
      val sizes      = (1 to 10).map { _ =>
        publish(world, stream(east))
        assert(advance(run, first) == first)
        world.side.keys("").size
      }
      assert(sizes.toSet.size == 1 && world.side.keys("change-").size == 1)
    }
  }

  test(
    "a run to the end reads the available clusters and reports the unavailable clusters, and the next run resumes"
  ) {
    val world = simulated("clusterTimeout" -> "1min", "fetchOffset.retryIntervalMs" -> "0")
    world.publish(stream(east, west))
    Seq(east, west).foreach(fill(world, _, 3))
    val start = Using.resource(world.start())(world.begin(StartPosition.Configured, _))
    world.logs(west).away = Some(_ => true)
    val read = Using.resource(world.start()) { run =>
      run.freeze()
      val next = advance(run, world.source.position(start.json))
      assert(rows(run, start, next) == all(east, 3))
      val own = Thread.currentThread
      world.clock.read = () => if (Thread.currentThread eq own) world.clock.pass(Duration.ofMillis(100))
      val error = intercept[SpliceException](run.advance(next, Limits.Everything))
      assert(error.getCondition == "SPLICE_KAFKA_CONNECTION.CLUSTER_UNAVAILABLE" && error.getMessage.contains(west))
      next
    }
    world.logs(west).away = None
    // The clock stops here, because the timeout could end before a busy machine returns a response.
    world.clock.read = () => ()
    Using.resource(world.start()) { run =>
      run.freeze()
      val from = world.source.position(read.json)
      val next = run.advance(from, Limits.Everything)
      assert(rows(run, from, next) == all(west, 3) && run.advance(next, Limits.Everything) == next)
    }
  }

  test("a run to the end names each cluster that does not respond, including a cluster that became unavailable later") {
    val world = simulated("clusterTimeout" -> "1min", "fetchOffset.retryIntervalMs" -> "0")
    world.publish(stream(east, west))
    Seq(east, west).foreach(fill(world, _, 3))
    val start = Using.resource(world.start())(world.begin(StartPosition.Configured, _))
    world.logs(east).away = Some(_ => true)
    Using.resource(world.start()) { run =>
      run.freeze()
      val next = run.advance(world.source.position(start.json), Limits.Limited(rows = Some(1)))
      assert(rows(run, start, next).size == 1, "the second cluster has unread rows")
      // The timeout of the first cluster ends half a timeout before the timeout of the second cluster.
      world.clock.pass(Duration.ofSeconds(30))
      val failures = new AtomicInteger
      world.logs(west).away = Some(_ => failures.incrementAndGet() > 0)
      val own = Thread.currentThread
      // The time passes slowly until the second cluster has failed, because a busy machine may delay its request.
      world.clock.read = () =>
        if (Thread.currentThread eq own) world.clock.pass(Duration.ofMillis(if (failures.get > 0) 100 else 1))
      val error = intercept[SpliceException](run.advance(next, Limits.Everything))
      assert(error.getCondition == "SPLICE_KAFKA_CONNECTION.CLUSTER_UNAVAILABLE")
      assert(Seq(east, west).forall(name => error.getMessage.contains(name)), error)
    }
  }

  test("a document that changes only the credentials of a cluster creates the clients of the cluster again") {
    val world   = simulated("credentials.a.kafka.client.id" -> "a", "credentials.b.kafka.client.id" -> "b")
    val servers = SortedMap("bootstrap.servers" -> s"$east:9092")
    def publish(credentials: String): Unit = {
      val clusters = SortedMap(east -> KafkaCluster(east, servers, credentials = Some(credentials)))
      world.publish(StreamMetadata(Some(world.generation + 1), clusters, SortedMap("s" -> stream(east))))
    }
    publish("a")
    fill(world, east, 3)
    Using.resource(world.start()) { run =>
      val (first, _) = readAll(run, run.start(StartPosition.Configured))
      assert(world.clients(east).credentials.contains("a"))
      publish("b")
      world.awaitRefresh()
      fill(world, east, 2)
      assert(readAll(run, first)._2 == all(east, 5).drop(3))
      assert(world.clients(east).credentials.contains("b"))
    }
  }

  test("a document may set the rack of a client, and the query may set 'rackFrom'") {
    val world = simulated("rackFrom" -> "env:RACK")
    fill(world, east, 3)
    Using.resource(world.start()) { run =>
      val (first, _) = readAll(run, run.start(StartPosition.Configured))
      val properties = SortedMap("bootstrap.servers" -> s"$east:9092", "client.rack" -> "r1")
      val clusters   = SortedMap(east -> KafkaCluster(east, properties))
      world.publish(StreamMetadata(Some(world.generation + 1), clusters, SortedMap("s" -> stream(east))))
      world.awaitRefresh()
      fill(world, east, 2)
      assert(readAll(run, first)._2 == all(east, 5).drop(3))
      assert(world.clients(east).properties.get("client.rack").contains("r1"))
    }
  }
}
