// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.life

import java.time.{Duration, Instant}
import java.util.concurrent.TimeUnit
import java.util.concurrent.locks.LockSupport

import scala.collection.immutable.SortedMap
import scala.util.Using

import org.scalatest.funsuite.AnyFunSuite

import splice.coordinator.internal.sidelog.MemorySideLog
import splice.kafka.dynamic.life.cluster.{LifeCluster, LifeDocument, LifeDocuments, PassingCluster}
import splice.kafka.dynamic.life.planted.PlantedFault
import splice.kafka.internal.enumerator.ClusterEnumerator
import splice.kafka.internal.split.KafkaPosition
import splice.source.{EnumeratorContext, Limits, ReadMode, StartPosition}
import splice.testkit.simulation.SimulatedClock

/** Tests of situations that are too rare in random scenarios. */
final class RareLivesSuite extends AnyFunSuite {

  test("the batch that ends the drain of a deleted topic is replayed") {
    val clusters                       = Seq("c0", "c1").map(id => id -> new LifeCluster(id)).toMap
    val names                          = SortedMap("east" -> "c0", "west" -> "c1")
    def on(number: Long, name: String) =
      LifeDocument(number, names, SortedMap("b" -> LifeDocument.stream("b", name -> s"on-$name")))
    val documents = new LifeDocuments(on(1, "east"))
    val options   = Map("failOnDataLoss" -> "false", "maxOffsetsPerTrigger" -> "7", "maxRemovalFraction" -> "1")
    val source    = new LifeSource(options, clusters, documents)
    val clock     = new SimulatedClock(Instant.EPOCH)
    val side      = new MemorySideLog
    def open()    = source.enumerator(EnumeratorContext(side, ReadMode.Stream, clock, cores = 2, run = "drain"))
    clusters.foreach { case (id, cluster) =>
      val topic = cluster.create(if (id == "c0") "on-east" else "on-west", 1)
      cluster.write(topic.name, 0, 40, 0L)
    }
    val batch = Using.resource(open()) { run =>
      val begin                                                       = run.start(StartPosition.Configured)
      def next(at: splice.kafka.dynamic.internal.split.DynamicOffset) = {
        clock.advance(Duration.ofSeconds(20))
        run.advance(at, run.limits(at))
      }
      val one = next(begin)
      documents.publish(on(2, "west"))
      val two = next(one)
      clusters("c0").delete("on-east")
      Iterator.iterate(two -> next(two)) { case (_, at) => at -> next(at) }.take(20).find { case (from, until) =>
        from.json.contains("on-east") && !until.json.contains("on-east")
      }
    }
    assert(batch.nonEmpty)
    batch.foreach { case (from, until) => Using.resource(open())(_.replay(from, until)) }
  }

  test("a slow thread of an available cluster is not an outage") {
    assert(RareLivesSuite.Seeds.forall(seed => LifePlan.of(seed.toLong).hangs))
    val lives = new DynamicLives(PlantedFault(cluster = new RareLivesSuite.Slow(_)))
    lives.failures(lives.run(RareLivesSuite.Seeds)).foreach(fail(_))
  }
}

private object RareLivesSuite {

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
