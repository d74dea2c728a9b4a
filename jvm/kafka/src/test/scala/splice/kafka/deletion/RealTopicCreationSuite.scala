// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.deletion

import scala.concurrent.duration.DurationInt
import scala.concurrent.{Await, ExecutionContext, Future}
import scala.jdk.CollectionConverters._
import scala.util.Try

import org.scalatest.BeforeAndAfterAll
import org.scalatest.funsuite.AnyFunSuite

import splice.kafka.broker.RealLog
import splice.source.errors.SpliceException
import splice.testkit.KafkaBroker

/** Tests with a broker that creates missing topics on request, which is Kafka's default. */
final class RealTopicCreationSuite extends AnyFunSuite with BeforeAndAfterAll {

  private lazy val broker = KafkaBroker.start("auto.create.topics.enable" -> "true")
  private lazy val real   = new RealLog(broker)

  private val fast = Seq(
    "startingOffsets"              -> "earliest",
    "discoveryInterval"            -> "2s",
    "kafka.default.api.timeout.ms" -> "3000",
    "kafka.request.timeout.ms"     -> "2000",
    "kafkaConsumer.pollTimeoutMs"  -> "3000"
  )

  override protected def afterAll(): Unit = broker.close()

  private def exists(topic: String): Boolean = real.admin(_.listTopics().names().get()).contains(topic)

  private def delete(topic: String): Unit = {
    real.admin(_.deleteTopics(Seq(topic).asJava).all().get())
    real.eventually(s"$topic is deleted")(!exists(topic))
  }

  test("the driver does not recreate a deleted topic, and onTopicRemoved applies") {
    real.create("leaves", 1)
    real.create("stays", 1)
    real.write("leaves", 1, 0, 5)
    real.write("stays", 1, 0, 5)
    val source = real.source(fast ++ Seq("subscribePattern" -> "leaves|stays", "onTopicRemoved" -> "drop"): _*)
    real.run(source) { c =>
      val from = real.all(c, c.initial())
      delete("leaves")
      val dropped = real.until(c, from) { at =>
        assert(!exists("leaves"), "the driver recreated the topic")
        at.json == """{"stays":{"0":5}}"""
      }
      real.write("stays", 1, 5, 8)
      val _ = real.until(c, dropped)(_.json == """{"stays":{"0":8}}""")
      assert(!exists("leaves"), "the driver recreated the topic")
    }
  }

  test("a reader does not recreate a deleted topic") {
    real.create("planned", 1)
    real.write("planned", 1, 0, 5)
    val source = real.source(fast :+ ("subscribe" -> "planned"): _*)
    real.run(source) { c =>
      val begin = c.initial()
      val tasks = c.tasks(begin, real.all(c, begin))
      delete("planned")
      val read = Try(real.rows(source, tasks, "planned"))
      assert(read.isFailure, "records of a deleted topic were returned")
    }
    assert(!exists("planned"), "a reader recreated the topic")
  }

  test(
    "if a topic is deleted after its batch was planned, the other topic is read and onTopicRemoved applies without a long wait"
  ) {
    real.create("goes", 1)
    real.create("remains", 1)
    Seq("goes", "remains").foreach(real.write(_, 1, 0, 5))
    // A reader that waits for this timeout would exceed the limit below.
    val patient                = fast :+ ("kafkaConsumer.pollTimeoutMs" -> "600000")
    def source(policy: String) =
      real.source(patient ++ Seq("subscribePattern" -> "goes|remains", "onTopicRemoved" -> policy): _*)
    real.run(source("drop"), slots = 1) { c =>
      val begin = c.initial()
      val tasks = c.tasks(begin, real.all(c, begin))
      delete("goes")
      def read(policy: String): Try[Seq[(Int, Long, String)]] = {
        implicit val threads: ExecutionContext = ExecutionContext.global
        Await.ready(Future(real.rows(source(policy), tasks, policy)), 120.seconds).value.get
      }
      assert(read("drop").get.map(_._2) == (0L until 5L))
      read("fail").failed.get match {
        case e: SpliceException =>
          assert(e.getCondition == "SPLICE_KAFKA_DATA.DATA_LOSS" && e.getMessage.contains("goes-0"))
        case other => fail(other)
      }
    }
    assert(!exists("goes"), "a reader recreated the topic")
  }

  test("a query does not create a topic that does not exist") {
    val source = real.source(fast :+ ("subscribe" -> "absent"): _*)
    assert(Try(real.run(source)(_.initial())).isFailure)
    assert(!exists("absent"))
  }
}
