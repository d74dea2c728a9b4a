// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.broker

import java.time.Duration

import scala.util.{Try, Using}

import org.scalatest.BeforeAndAfterAll
import org.scalatest.funsuite.AnyFunSuite

import splice.coordinator.internal.sidelog.MemorySideLog
import splice.kafka.KafkaFailures
import splice.testkit.KafkaBroker

/** Tests of a broker that is killed, and of another cluster at its address. */
final class RealOutageSuite extends AnyFunSuite with KafkaFailures with BeforeAndAfterAll {

  private lazy val broker = KafkaBroker.start()
  private lazy val real   = new RealLog(broker)

  private val earliest = "startingOffsets" -> "earliest"

  override protected def afterAll(): Unit = broker.close()

  test("readers and the driver continue after a killed broker is available again") {
    real.create("restart", 2)
    real.write("restart", 2, 0, 100)
    val source = real.source("subscribe" -> "restart", earliest)
    real.run(source) { c =>
      val begin = c.initial()
      val one   = c.advance(begin, everything = true)
      val first = real.rows(source, c.tasks(begin, one), "restart")
      broker.kill()
      broker.start()
      real.eventually("writing works again")(Try(real.write("restart", 2, 100, 200)).isSuccess)
      val two = c.advance(one, everything = true)
      val all = first ++ real.rows(source, c.tasks(one, two), "restart")
      assert(all.map(_._3).toSet == (0 until 200).map(i => s"v$i").toSet)
      // A producer retry may write a value twice, at different offsets.
      assert(all.map(row => row._1 -> row._2).distinct.size == all.size)
    }
  }

  test("a query continues after its broker has moved behind the bootstrap address") {
    real.create("moved", 2)
    real.write("moved", 2, 0, 100)
    Using.resource(new Forwarder(broker)) { forwarder =>
      val source = real.source("subscribe" -> "moved", earliest, "kafka.bootstrap.servers" -> forwarder.servers)
      real.run(source) { c =>
        val begin = c.initial()
        val one   = real.all(c, begin)
        val first = real.rows(source, c.tasks(begin, one), "moved")
        broker.move()
        real.write("moved", 2, 100, 200)
        val two = real.moved(c, one)
        val all = first ++ real.rows(source, c.tasks(one, two), "moved") ++ {
          val three = real.all(c, two)
          real.rows(source, c.tasks(two, three), "moved")
        }
        assert(all.map(_._3).toSet == (0 until 200).map(i => s"v$i").toSet)
      }
    }
  }

  test("an unavailable broker delays a stream, which fails only after the timeout") {
    real.create("away", 1)
    real.write("away", 1, 0, 10)
    val fast    = Seq("kafka.default.api.timeout.ms" -> "1000", "kafka.request.timeout.ms" -> "1000")
    val options = Seq("subscribe" -> "away", earliest, "discoveryInterval" -> "200ms") ++ fast
    val patient = real.source(options: _*)
    val hasty   = real.source(options :+ ("clusterTimeout" -> "0s"): _*)
    real.run(patient) { c =>
      val one = real.all(c, c.initial())
      real.run(hasty) { other =>
        other.initial()
        real.all(other, one)
        broker.kill()
        assert(Seq.fill(3)(real.all(c, one)).forall(_ == one))
        real.eventually("looks fail")(c.figures(one)("discoveryFailuresTotal").toInt > 0)
        failure("KAFKA_CONNECTION.BROKERS_UNAVAILABLE")(real.all(other, one))
        broker.start()
      }
      real.eventually("writing works again")(Try(real.write("away", 1, 10, 20)).isSuccess)
      assert(real.moved(c, one).json == """{"away":{"0":20}}""")
      // Discovery doubles the delay after each failure, to at most 60 s.
      val within = Duration.ofSeconds(90)
      real.eventually("looks succeed", within) { real.all(c, one); c.figures(one)("discoveryAgeMs").toLong < 1000 }
      assert(c.figures(one)("discoveryFailuresTotal").toInt > 0, "a total never decreases")
    }
  }

  test("another cluster at the same address fails, or is read from its beginning") {
    real.create("swapped", 1)
    real.write("swapped", 1, 0, 10)
    val failing = real.source("subscribe" -> "swapped", earliest)
    val reading = real.source("subscribe" -> "swapped", earliest, "onTopicRecreated" -> "restart")
    val log     = new MemorySideLog
    val one     = real.run(failing, log)(c => real.all(c, c.initial()))
    val before  = broker.clusterId
    broker.replace()
    real.create("swapped", 1)
    real.write("swapped", 1, 0, 30)
    val text = failure("KAFKA_DATA.OTHER_CLUSTER")(real.run(failing, log)(real.all(_, one)))
    assert(text.contains(before) && text.contains(broker.clusterId) && text.contains("'onTopicRecreated'"))
    real.run(reading, log) { c =>
      val until = real.moved(c, one)
      assert(until.json == """{"swapped":{"00":30}}""")
      assert(real.rows(reading, c.tasks(one, until), "swapped").size == 30)
    }
  }
}
