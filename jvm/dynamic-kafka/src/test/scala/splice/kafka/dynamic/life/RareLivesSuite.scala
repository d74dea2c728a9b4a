// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.life

import java.time.{Duration, Instant}
import java.util.concurrent.TimeUnit
import java.util.concurrent.locks.LockSupport

import scala.collection.immutable.SortedMap
import scala.collection.mutable
import scala.util.Using

import org.scalatest.funsuite.AnyFunSuite

import splice.coordinator.internal.sidelog.MemorySideLog
import splice.kafka.dynamic.internal.split.DynamicOffset
import splice.kafka.dynamic.life.cluster.{LifeCluster, LifeDocument, LifeDocuments, LifeFault, PassingCluster}
import splice.kafka.dynamic.life.planted.PlantedFault
import splice.kafka.internal.enumerator.ClusterEnumerator
import splice.kafka.internal.split.KafkaPosition
import splice.source.errors.SpliceException
import splice.source.{EnumeratorContext, Limits, ReadMode, SplitEnumerator, StartPosition}
import splice.testkit.simulation.SimulatedClock

/** Tests of situations that are too rare in random scenarios. */
final class RareLivesSuite extends AnyFunSuite {

  import RareLivesSuite._

  test("the batch that ends the drain of a deleted topic is replayed") {
    val world =
      new World("east")("failOnDataLoss" -> "false", "maxOffsetsPerTrigger" -> "7", "maxRemovalFraction" -> "1")
    val batch = Using.resource(world.open()) { run =>
      val one = world.next(run, run.start(StartPosition.Configured))
      world.publish("west")
      val two = world.next(run, one)
      world.clusters("east").delete("on-east")
      Iterator.iterate(two -> world.next(run, two)) { case (_, at) => at -> world.next(run, at) }.take(20).find {
        case (from, until) => from.json.contains("on-east") && !until.json.contains("on-east")
      }
    }
    assert(batch.nonEmpty)
    batch.foreach { case (from, until) => Using.resource(world.open())(_.replay(from, until)) }
  }

  test("an unavailable cluster fails a query with onClusterUnavailable=fail, and the next run reads its records") {
    val world   = new World("east", "west")("onClusterUnavailable" -> "fail", "clusterTimeout" -> "60s")
    val batches = mutable.ArrayBuffer.empty[DynamicOffset]
    Using.resource(world.open()) { run =>
      batches += world.next(run, run.start(StartPosition.Configured))
      world.clusters("east").faults.set(LifeFault.Away)
      world.write(5)
      val error = intercept[SpliceException](Seq.fill(20)(batches += world.next(run, batches.last)))
      assert(error.getCondition == "SPLICE_KAFKA_CONNECTION.CLUSTER_UNAVAILABLE")
    }
    world.clusters("east").faults.heal()
    Using.resource(world.open()) { run =>
      val later = Iterator.iterate(batches.last)(world.next(run, _)).take(20).map(_.json)
      assert(later.exists(json => Seq("east", "west").forall(name => json.contains(s"\"on-$name\":{\"0\":45}"))))
    }
  }

  test("a slow thread of an available cluster is not an outage") {
    assert(Seeds.forall(seed => LifePlan.of(seed.toLong).hangs))
    val lives = new DynamicLives(PlantedFault(cluster = new Slow(_)))
    lives.failures(lives.run(Seeds)).foreach(fail(_))
  }
}

private object RareLivesSuite {

  /** Stream on topics of two clusters. Each topic has 40 records.
    *
    * @param first
    *   clusters of the stream in the first document
    */
  final private class World(first: String*)(options: (String, String)*) {
    private val names = SortedMap("east" -> "c0", "west" -> "c1")
    private val clock = new SimulatedClock(Instant.EPOCH)
    private val side  = new MemorySideLog

    val clusters: SortedMap[String, LifeCluster] = names.map { case (name, id) => name -> new LifeCluster(id) }

    private val documents = new LifeDocuments(document(1, first))
    private val source    =
      new LifeSource(options.toMap, clusters.map { case (name, cluster) => names(name) -> cluster }.toMap, documents)

    clusters.foreach { case (name, cluster) => cluster.create(s"on-$name", 1) }
    write(40)

    def write(count: Int): Unit =
      clusters.foreach { case (name, cluster) => cluster.write(s"on-$name", 0, count, 0L) }

    /** Publishes the next document, which moves the stream to these clusters. */
    def publish(on: String*): Unit = documents.publish(document(documents.current.generation + 1, on))

    private def document(number: Long, on: Seq[String]) =
      LifeDocument(number, names, SortedMap("b" -> LifeDocument.stream("b", on.map(name => name -> s"on-$name"): _*)))

    def open(): SplitEnumerator[DynamicOffset] =
      source.enumerator(EnumeratorContext(side, ReadMode.Stream, clock, cores = 2, run = "rare"))

    /** Plans the next batch after 20 seconds. */
    def next(run: SplitEnumerator[DynamicOffset], at: DynamicOffset): DynamicOffset = {
      clock.advance(Duration.ofSeconds(20))
      run.advance(at, run.limits(at))
    }
  }

  /** Scenarios whose batches wait 3 ms for a response, and that fail if a cluster is unavailable. */
  private val Seeds = Seq(464, 9420)

  /** Delays the first response of each enumerator, as a high load of the machine does. */
  final private class Slow(inner: ClusterEnumerator) extends PassingCluster(inner) {
    private var isFirst = true

    override def advance(from: KafkaPosition, limits: Limits): KafkaPosition = {
      if (isFirst) LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(100))
      isFirst = false
      super.advance(from, limits)
    }
  }
}
