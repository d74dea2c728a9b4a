// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.enumerator

import java.time.Duration
import java.util.concurrent.{CountDownLatch, TimeUnit}

import scala.annotation.tailrec
import scala.collection.immutable.{SortedMap, SortedSet}
import scala.util.Using

import org.scalatest.funsuite.AnyFunSuite

import splice.kafka.dynamic.change.{LogPlace, LogPlaces}
import splice.kafka.dynamic.{DynamicSettings, KafkaCluster}
import splice.kafka.enumerator.{SimulatedLog, SimulatedRun}
import splice.kafka.options.Subscription
import splice.kafka.split.KafkaPosition
import splice.source.{LogPartition, SourceOptions}

/** What clusters are asked before a change. */
final class ClusterProbeSuite extends AnyFunSuite {

  private val p0    = LogPartition("t", 0)
  private val p1    = LogPartition("t", 1)
  private val east  = KafkaCluster("east", SortedMap("bootstrap.servers" -> "east:9092"))
  private val at200 = ProbeQuestion(east, SortedSet("t"), Some(200L))

  final private class World(options: (String, String)*) {

    val clock = new SimulatedRun.Hands
    val log   = new SimulatedLog(Subscription.Topics(SortedSet("t")), Set("t"))
    log.create("t", 2)
    log.write("t", 0, 100, 200, 300)
    log.write("t", 1, 100)

    private val settings = DynamicSettings(SourceOptions(
      Map("metadata.file" -> "/streams.yaml", "streams" -> "s", "clusterWait" -> "10s") ++ options
    ))

    def asked: Int = log.calls.count(_ == "describe")

    def probe(use: ClusterProbe => Unit): Unit =
      Using.resource(new ClusterProbe(settings, clock, "simulated")(_ => log))(use)
  }

  private def answer(found: Map[ProbeQuestion, LogPlaces]): Option[Map[LogPartition, LogPlace]] =
    found.values.headOption.map(_.partitions)

  test("where a time is in each partition, and where a topic begins that is new") {
    val world = new World("newPartitionsStartAt" -> "latest")
    world.probe { probe =>
      val found = probe(Seq(at200))
      assert(answer(found).contains(Map(p0 -> LogPlace(Some(1), 3), p1 -> LogPlace(None, 1))))
      assert(found(at200).asked == world.clock.instant())
      assert(answer(probe(Seq(at200.copy(millis = None)))).exists(_.view.mapValues(_.offset).toMap ==
        Map(p0 -> 3L, p1 -> 1L)))
    }
    assert(world.log.closed)
  }

  test("an answer stays until it is dropped, or the topics are read further") {
    val world = new World
    world.probe { probe =>
      Seq(1, 2).foreach(_ => assert(probe(Seq(at200)).size == 1 && world.asked == 1))
      val further = at200.copy(read = KafkaPosition.of(Seq(p0 -> 2L)))
      assert(probe(Seq(further)).size == 1 && world.asked == 2)
      probe.drop(Seq(further))
      assert(probe(Seq(further)).isEmpty && world.asked == 2)
      world.clock.pass(Duration.ofSeconds(2))
      assert(probe(Seq(further)).size == 1 && world.asked == 3)
    }
  }

  test("a cluster that is away gives no answer, and is asked again after a while") {
    val world = new World
    world.log.away = Some(_ => true)
    world.probe { probe =>
      assert(!probe.isSilent(at200))
      assert(probe(Seq(at200)).isEmpty && probe(Seq(at200)).isEmpty && world.asked == 1)
      assert(probe.isSilent(at200) && probe.isSilent(at200.copy(read = KafkaPosition.of(Seq(p0 -> 2L)))))
      world.log.away = None
      world.clock.pass(Duration.ofSeconds(2))
      assert(probe(Seq(at200)).size == 1 && !probe.isSilent(at200))
      probe.drop(Seq(at200))
      assert(probe(Seq(at200)).isEmpty && !probe.isSilent(at200))
    }
  }

  test("an answer that takes long is not waited for, and counts when it comes") {
    val world = new World("clusterWait" -> "1ms")
    val late  = new CountDownLatch(1)
    world.log.between = what => if (what == "describe") late.await()
    world.probe { probe =>
      assert(probe(Seq(at200)).isEmpty)
      world.clock.pass(Duration.ofMinutes(1))
      late.countDown()
      val asked                                           = world.clock.instant().minus(Duration.ofMinutes(1))
      val end                                             = System.nanoTime() + TimeUnit.MINUTES.toNanos(1)
      @tailrec def later(): Map[ProbeQuestion, LogPlaces] = {
        val found = probe(Seq(at200))
        if (found.nonEmpty) found else if (System.nanoTime() > end) fail("the response never arrived") else later()
      }
      assert(later()(at200).asked == asked && world.asked == 1)
    }
  }
}
