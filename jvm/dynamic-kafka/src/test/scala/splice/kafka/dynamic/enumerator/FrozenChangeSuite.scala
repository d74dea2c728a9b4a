// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.enumerator

import java.time.Duration
import java.util.concurrent.CountDownLatch

import scala.collection.immutable.{SortedMap, SortedSet}
import scala.util.Using

import org.scalatest.funsuite.AnyFunSuite

import splice.coordinator.MemorySideLog
import splice.kafka.dynamic._
import splice.kafka.dynamic.reader.ClusterReads
import splice.kafka.dynamic.split.{DynamicOffset, DynamicPosition}
import splice.kafka.enumerator._
import splice.kafka.options.Subscription
import splice.source._

/** A run over all that is there, and a cluster that is slow to say what a change needs. */
final class FrozenChangeSuite extends AnyFunSuite {

  /** A stream that moves from one cluster to another at a time, which is over. */
  final private class World extends KafkaMetadataService {

    private val settings = DynamicSettings(SourceOptions(Map(
      "streams"           -> "s",
      "metadata.file"     -> "unused",
      "startingOffsets"   -> "earliest",
      "discoveryInterval" -> "1h",
      "clusterWait"       -> "10ms"
    )))
    private val clock    = new SimulatedRun.Hands
    private val side     = new MemorySideLog
    private val time     = clock.instant().minusSeconds(60)
    private val clusters = Seq("east", "west").map(name =>
      name -> KafkaCluster(name, SortedMap("bootstrap.servers" -> s"$name:9092"))
    )

    var moved                            = false
    @volatile var looked: String => Unit = _ => ()

    /** Of two records before the time and three after it, on each cluster. */
    private def log(cluster: String): SimulatedLog = {
      val made = new SimulatedLog(Subscription.Topics(SortedSet("t")))
      made.clusterId = Some(s"id-of-$cluster")
      made.create("t", 1)
      made.write("t", 0, (-2 until 3).map(time.toEpochMilli + _): _*)
      made
    }

    override def allStreams(): StreamMetadata = {
      val stream =
        if (moved) KafkaStream("s", SortedMap("west" -> SortedSet("t")), Some(StreamCutover.At(time)))
        else KafkaStream("s", SortedMap("east" -> SortedSet("t")))
      StreamMetadata(Some(if (moved) 2 else 1), SortedMap.from(clusters), SortedMap("s" -> stream))
    }

    override def isClusterActive(cluster: String): Boolean = {
      looked(cluster)
      true
    }

    /** The enumerator of another start of the query.
      *
      * @param between
      *   what happens before the clusters answer what a change needs
      */
    def start(between: () => Unit = () => ()): SplitEnumerator[DynamicOffset] = {
      val day   = Duration.ofDays(1)
      val probe = new ClusterProbe(settings, clock, "simulated")({ _ =>
        val asked = log("east")
        asked.between = what => if (what == "describe") between()
        asked
      })
      new DynamicEnumerator(
        settings,
        EnumeratorContext(side, ReadMode.Stream, clock, cores = 2, run = "simulated"),
        new MetadataDiscovery(this, settings.selection, day, day, clock, "simulated"),
        probe,
        (cluster, own, scope) => {
          val there = log(cluster.name)
          KafkaEnumerator(settings.of(cluster, own), scope, there, new ClockedDiscovery(there, day, clock))
        },
        new RecordSizes,
        new ClusterReads("simulated")
      )
    }
  }

  test("it does not read past the time while the cluster does not say where that is") {
    val world = new World
    val begin = Using.resource(world.start())(_.start(StartPosition.Configured))
    world.moved = true
    val turns = new CountDownLatch(5)
    world.looked = _ => turns.countDown()
    Using.resource(world.start(() => turns.await())) { run =>
      run.freeze()
      val ends = Iterator.iterate(begin)(run.advance(_, Limits.Everything)).sliding(2)
        .collectFirst { case Seq(at, next) if at.json == next.json => at }
      assert(ends.collect { case at: DynamicPosition => at.clusters.keySet }.contains(Set("west")))
      assert(run.splits(begin, ends.get).map(r => r.splitId -> r.weight) == Seq("east/t-0" -> 2L, "west/t-0" -> 3L))
    }
  }
}
