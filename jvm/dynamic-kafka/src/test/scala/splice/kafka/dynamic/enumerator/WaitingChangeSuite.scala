// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.enumerator

import java.time.Duration

import scala.collection.immutable.SortedSet
import scala.util.Using

import org.scalatest.funsuite.AnyFunSuite

import splice.coordinator.MemorySideLog
import splice.kafka.dynamic._
import splice.kafka.dynamic.change._
import splice.kafka.enumerator.{SimulatedLog, SimulatedRun}
import splice.kafka.options.Subscription
import splice.source.SourceOptions

/** Changes for which a cluster must be asked that is away. */
final class WaitingChangeSuite extends AnyFunSuite {

  import StreamsAt._

  /** A stream on one topic of one record, and its mirror on another cluster; every run hears one answer. */
  private trait World {
    val clock = new SimulatedRun.Hands
    val side  = new MemorySideLog
    val logs  = Seq("a", "b").map { name =>
      val log = new SimulatedLog(Subscription.Topics(SortedSet("x")), Set("x"))
      log.create("x", 1)
      log.write("x", 0, clock.instant().toEpochMilli)
      name -> log
    }.toMap

    private val settings = DynamicSettings(SourceOptions(Map("metadata.file" -> "unused", "streams" -> "s")))
    private val rules    = new ChangeRules(settings.removal)

    def cutover(in: Duration): StreamMetadata =
      goesOver(2, Some(StreamCutover.At(clock.instant().plus(in))), "b/x")

    def away(cluster: String, isAway: Boolean): Unit = logs(cluster).away = if (isAway) Some(_ => true) else None

    def run(answer: StreamMetadata)(use: ChangeDriver => Unit): Unit = {
      val service = new KafkaMetadataService {
        override def allStreams(): StreamMetadata              = answer
        override def isClusterActive(cluster: String): Boolean = true
      }
      val names = StreamSelection.Names(SortedSet("s"))
      val hour  = Duration.ofHours(1)
      Using.Manager { closed =>
        val discovery = closed(new MetadataDiscovery(service, names, hour, hour, clock, "run"))
        val probe     = closed(
          new ClusterProbe(settings, clock, "run")(own => logs(own.client.servers.stripSuffix(":9092")))
        )
        val questions = new ChangeQuestions(rules, probe, clock)
        use(new ChangeDriver(new ChangeLog(side), rules, discovery, clock, questions))
      }.get
    }

    def settled(driver: ChangeDriver): Int = {
      // Who was asked in vain is asked again after a while.
      clock.pass(Duration.ofSeconds(2))
      val last = new ChangeLog(side).last.fold(0)(_.number)
      driver.settle(at(last, "a/x" -> 1), fixed = false, _ => Availability.Unknown)._1.change
    }
  }

  test("an answer waits for the cluster that a stream leaves, and says for which, until that one answers") {
    new World {
      run(metadata(1, "a/x"))(driver => assert(driver.first().number == 0 && settled(driver) == 0))
      away("a", isAway = true)
      run(cutover(Duration.ofMinutes(5))) { driver =>
        Seq(1, 2, 3).foreach(_ => assert(settled(driver) == 0 && driver.waitsFor == SortedSet("a")))
        away("a", isAway = false)
        assert(settled(driver) == 1 && driver.waitsFor.isEmpty)
      }
    }
  }

  test("a stream whose time has come waits for the cluster that it goes over to, and says so from then on") {
    new World {
      run(metadata(1, "a/x"))(driver => assert(driver.first().number == 0))
      run(cutover(Duration.ofMinutes(5))) { driver =>
        away("b", isAway = true)
        assert(settled(driver) == 1 && driver.waitsFor.isEmpty)
        clock.pass(Duration.ofMinutes(10))
        Seq(1, 2, 3).foreach(_ => assert(settled(driver) == 1 && driver.waitsFor == SortedSet("b")))
        away("b", isAway = false)
        assert(settled(driver) > 1 && driver.waitsFor.isEmpty)
      }
    }
  }

  test("an answer that takes the move back waits for nobody") {
    new World {
      run(metadata(1, "a/x"))(driver => assert(driver.first().number == 0))
      away("a", isAway = true)
      run(cutover(Duration.ofMinutes(5)))(driver => assert(settled(driver) == 0 && driver.waitsFor.nonEmpty))
      run(metadata(3, "a/x"))(driver => assert(settled(driver) == 0 && driver.waitsFor.isEmpty))
      run(metadata(4, "b/x"))(driver => assert(settled(driver) == 1 && driver.waitsFor.isEmpty))
    }
  }
}
