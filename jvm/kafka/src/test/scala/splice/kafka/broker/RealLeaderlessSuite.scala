// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.broker

import java.time.Duration
import java.util.concurrent.Future

import scala.concurrent.duration.DurationInt
import scala.concurrent.{Await, ExecutionContext, Future => Task}
import scala.jdk.CollectionConverters._
import scala.util.Using

import org.apache.kafka.clients.admin.NewTopic
import org.apache.kafka.clients.producer.{ProducerRecord, RecordMetadata}
import org.scalatest.BeforeAndAfterAll
import org.scalatest.funsuite.AnyFunSuite

import splice.coordinator.internal.Coordinator
import splice.coordinator.internal.sidelog.MemorySideLog
import splice.kafka.internal.cluster.UnavailablePartitions
import splice.source.Position
import splice.testkit.{KafkaBroker, LoggedMessages}

/** Tests with two brokers. Each broker has the only replica of one partition. The timeouts of the clients are Kafka's
  * defaults.
  */
final class RealLeaderlessSuite extends AnyFunSuite with BeforeAndAfterAll {

  private lazy val broker = KafkaBroker.start()
  private lazy val real   = new RealLog(broker)
  private lazy val second = {
    // The first broker must have the transaction log.
    Using.resource(real.producer("transactional.id" -> "first"))(_.initTransactions())
    KafkaBroker.join(broker, node = 2)
  }

  private val earliest = "startingOffsets" -> "earliest"

  // Less than the default timeout of one client request.
  private val within = Duration.ofSeconds(40)

  override protected def afterAll(): Unit =
    try second.close()
    finally broker.close()

  /** Creates a topic with partition 0 on the first broker and partition 1 on the second broker. */
  private def create(topic: String): Unit = {
    val replicas = Seq(1, 2).zipWithIndex.map { case (node, p) => Int.box(p) -> Seq(Int.box(node)).asJava }
    real.admin(_.createTopics(Seq(new NewTopic(topic, replicas.toMap.asJava)).asJava).all().get())
    real.eventually("both partitions have a leader")(leaders(topic) == Set(0, 1))
  }

  private def leaders(topic: String): Set[Int] = real.admin { client =>
    client.describeTopics(Seq(topic).asJava).topicNameValues().get(topic).get().partitions.asScala
      .filter(p => Option(p.leader).exists(!_.isEmpty)).map(_.partition).toSet
  }

  private def write(topic: String, partition: Int, from: Int, until: Int): Unit = Using.resource(real.producer()) {
    out =>
      val sent: Seq[Future[RecordMetadata]] = (from until until).map(i =>
        out.send(new ProducerRecord[String, String](topic, Int.box(partition), s"k$i", s"v$i"))
      )
      sent.foreach(_.get())
  }

  private def lose(topic: String): Unit = {
    second.kill()
    real.eventually("the second partition has no leader")(leaders(topic) == Set(0))
  }

  private def regain(topic: String): Unit = {
    second.start()
    real.eventually("the second partition has a leader", within)(leaders(topic) == Set(0, 1))
  }

  private def moved(c: Coordinator, from: Position): Position = real.until(c, from, within)(_ != from)

  private def ofSecond(rows: Seq[(Int, Long, String)]): Seq[Long] = rows.filter(_._1 == 1).map(_._2)

  test("a partition without a leader has no rows, the other partition is read, and later no row is skipped") {
    val _ = second
    create("half")
    Seq(0, 1).foreach(write("half", _, 0, 10))
    val source = real.source("subscribe" -> "half", earliest)
    real.run(source) { c =>
      val from = real.all(c, c.initial())
      assert(from.json == """{"half":{"0":10,"1":10}}""")
      lose("half")
      write("half", 0, 10, 20)
      val (one, reported) = LoggedMessages.during(classOf[UnavailablePartitions].getName) {
        val one = moved(c, from)
        write("half", 0, 20, 30)
        moved(c, one)
      }
      assert(one.json == """{"half":{"0":30,"1":10}}""")
      assert(reported.size == 1 && reported.head.contains("half-1") && !reported.head.contains("half-0"))
      // An idle trigger does not wait for the partition either.
      assert(Seq.fill(100)(real.all(c, one)).forall(_ == one))
      regain("half")
      write("half", 1, 10, 25)
      val two = moved(c, one)
      assert(two.json == """{"half":{"0":30,"1":25}}""")
      assert(ofSecond(real.rows(source, c.tasks(one, two), "half")) == (10L until 25L))
    }
  }

  test("only committed records count, even for partitions with separate requests") {
    val _ = second
    create("open")
    val source = real.source("subscribe" -> "open", earliest, "kafka.isolation.level" -> "read_committed")
    real.run(source) { c =>
      val from = c.initial()
      lose("open")
      Using.resource(real.producer("transactional.id" -> "open")) { out =>
        out.initTransactions()
        out.beginTransaction()
        val _ = out.send(new ProducerRecord[String, String]("open", Int.box(0), "k", "v")).get()
        assert(Seq.fill(10)(real.all(c, from)).forall(_ == from))
        out.commitTransaction()
      }
      assert(moved(c, from).json == """{"open":{"0":2,"1":0}}""")
      regain("open")
    }
  }

  test("a run with a fixed end waits for the partition and reads its records") {
    val _ = second
    create("fixed")
    Seq(0, 1).foreach(write("fixed", _, 0, 10))
    val source = real.source("subscribe" -> "fixed", earliest)
    val log    = new MemorySideLog
    val from   = real.run(source, log)(c => real.all(c, c.initial()))
    Seq(0, 1).foreach(write("fixed", _, 10, 15))
    lose("fixed")
    real.run(source, log) { c =>
      implicit val threads: ExecutionContext = ExecutionContext.global
      val until                              = Task {
        c.freeze()
        real.all(c, from)
      }
      regain("fixed")
      assert(Await.result(until, 100.seconds).json == """{"fixed":{"0":15,"1":15}}""")
    }
  }
}
