// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.deletion

import scala.concurrent.duration.DurationInt
import scala.concurrent.{Await, ExecutionContext, Future}
import scala.util.Try

import org.scalatest.funsuite.AnyFunSuite

import splice.kafka.broker.RealLog
import splice.source.errors.SpliceException
import splice.testkit.internal.broker.SharedKafka

/** Tests with a broker that creates missing topics on request, which is Kafka's default. */
final class RealTopicCreationSuite extends AnyFunSuite {

  private lazy val real = new RealLog(SharedKafka.east)

  private val fast = Seq(
    "startingOffsets"              -> "earliest",
    "discoveryInterval"            -> "2s",
    "kafka.default.api.timeout.ms" -> "3000",
    "kafka.request.timeout.ms"     -> "2000",
    "kafkaConsumer.pollTimeoutMs"  -> "3000"
  )

  test("the driver does not recreate a deleted topic, and onTopicRemoved applies") {
    real.create("parts", 1)
    real.create("keeps", 1)
    real.write("parts", 1, 0, 5)
    real.write("keeps", 1, 0, 5)
    val source = real.source(fast ++ Seq("subscribePattern" -> "parts|keeps", "onTopicRemoved" -> "drop"): _*)
    real.run(source) { c =>
      val from = real.all(c, c.initial())
      real.delete("parts")
      val dropped = real.until(c, from) { at =>
        assert(!real.exists("parts"), "the driver recreated the topic")
        at.json == """{"keeps":{"0":5}}"""
      }
      real.write("keeps", 1, 5, 8)
      val _ = real.until(c, dropped)(_.json == """{"keeps":{"0":8}}""")
      assert(!real.exists("parts"), "the driver recreated the topic")
    }
  }

  test("a reader does not recreate a deleted topic") {
    real.create("planned", 1)
    real.write("planned", 1, 0, 5)
    val source = real.source(fast :+ ("subscribe" -> "planned"): _*)
    real.run(source) { c =>
      val begin = c.initial()
      val tasks = c.tasks(begin, real.all(c, begin))
      real.delete("planned")
      val read = Try(real.rows(source, tasks, "planned"))
      assert(read.isFailure, "records of a deleted topic were returned")
    }
    assert(!real.exists("planned"), "a reader recreated the topic")
  }

  test(
    "if a topic is deleted after its batch was planned, the other topic is read and onTopicRemoved applies without a long wait"
  ) {
    real.create("sinks", 1)
    real.create("floats", 1)
    Seq("sinks", "floats").foreach(real.write(_, 1, 0, 5))
    // A reader that waits for this timeout would exceed the limit below.
    val patient                = fast :+ ("kafkaConsumer.pollTimeoutMs" -> "600000")
    def source(policy: String) =
      real.source(patient ++ Seq("subscribePattern" -> "sinks|floats", "onTopicRemoved" -> policy): _*)
    real.run(source("drop"), slots = 1) { c =>
      val begin = c.initial()
      val tasks = c.tasks(begin, real.all(c, begin))
      real.delete("sinks")
      def read(policy: String): Try[Seq[(Int, Long, String)]] = {
        implicit val threads: ExecutionContext = ExecutionContext.global
        Await.ready(Future(real.rows(source(policy), tasks, policy)), 120.seconds).value.get
      }
      assert(read("drop").get.map(_._2) == (0L until 5L))
      read("fail").failed.get match {
        case e: SpliceException =>
          assert(e.getCondition == "SPLICE_KAFKA_DATA.DATA_LOSS" && e.getMessage.contains("sinks-0"))
        case other => fail(other)
      }
    }
    assert(!real.exists("sinks"), "a reader recreated the topic")
  }

  test("a query does not create a topic that does not exist") {
    val source = real.source(fast :+ ("subscribe" -> "absent"): _*)
    assert(Try(real.run(source)(_.initial())).isFailure)
    assert(!real.exists("absent"))
  }
}
