// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark.realtime

import java.nio.file.Path
import java.util.concurrent.locks.LockSupport
import java.util.concurrent.{ConcurrentLinkedQueue, TimeUnit}

import scala.jdk.CollectionConverters._
import scala.util.Using

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{Path => HadoopPath}
import org.apache.kafka.clients.producer.{KafkaProducer, ProducerRecord}
import org.apache.kafka.common.serialization.StringSerializer
import org.apache.spark.sql.streaming.{StreamingQuery, StreamingQueryException, Trigger}
import org.apache.spark.sql.{DataFrame, ForeachWriter, Row}
import org.scalatest.Suite

import splice.spark.internal.stream.LoggedBatches
import splice.testkit.KafkaTopics
import splice.testkit.internal.broker.SharedKafka

/** Queries over a real broker. The sink keeps the rows in this JVM. */
trait LiveQueries extends TimedQueries { this: Suite =>

  import LiveQueries._

  protected lazy val broker = SharedKafka.east

  protected def create(topic: String, partitions: Int): Unit =
    Using.resource(broker.admin())(KafkaTopics.create(_, topic, partitions))

  protected def producer(more: (String, Object)*): KafkaProducer[String, String] = {
    val settings = Map[String, Object](
      "bootstrap.servers" -> broker.servers,
      "key.serializer"    -> classOf[StringSerializer].getName,
      "value.serializer"  -> classOf[StringSerializer].getName
    ) ++ more
    new KafkaProducer[String, String](settings.asJava)
  }

  /** @param commit true if the transaction of the records is committed, false if aborted; None without a transaction */
  protected def write(topic: String, partition: Int, values: Seq[String], commit: Option[Boolean] = None): Unit = {
    val transaction = commit.map(_ => "transactional.id" -> s"writer-$topic-$partition")
    Using.resource(producer(transaction.toSeq: _*)) { out =>
      commit.foreach { _ =>
        out.initTransactions()
        out.beginTransaction()
      }
      values.foreach(value => out.send(new ProducerRecord[String, String](topic, Int.box(partition), "k", value)))
      out.flush()
      commit.foreach(isCommit => if (isCommit) out.commitTransaction() else out.abortTransaction())
    }
  }

  protected def start(topic: String, trigger: Trigger, options: (String, String)*): StreamingQuery =
    startInto(new Collecting, topic, trigger, options: _*)

  /** @param topic
    *   the topic to read, unless the options have `subscribePattern`, and the name of the checkpoint
    */
  protected def startInto(
      sink: ForeachWriter[Row],
      topic: String,
      trigger: Trigger,
      options: (String, String)*
  ): StreamingQuery =
    startFrame(rows(topic, options: _*), topic, trigger, sink)

  /** Reads a topic, or the topics of the option `subscribePattern`. */
  protected def rows(topic: String, options: (String, String)*): DataFrame = {
    val topics = options.find(_._1 == "subscribePattern").getOrElse("subscribe" -> topic)
    spark.readStream.format("splice-kafka")
      .option("kafka.bootstrap.servers", broker.servers)
      .option("startingOffsets", "earliest")
      .option("discoveryInterval", "200ms")
      .options(Map(topics) ++ options)
      .load()
      .selectExpr("topic", "cast(value as string)")
  }

  /** @param name the name of the checkpoint */
  protected def startFrame(
      frame: DataFrame,
      name: String,
      trigger: Trigger,
      sink: ForeachWriter[Row] = new Collecting
  ): StreamingQuery =
    frame.writeStream
      .foreach(sink)
      .outputMode("update")
      .option("checkpointLocation", checkpoint(name).toString)
      .trigger(trigger)
      .start()

  protected def checkpoint(topic: String): Path = folder.resolve(topic)

  protected def logged(topic: String): LoggedBatches =
    new LoggedBatches(new HadoopPath(s"${checkpoint(topic)}/sources/0"), new Configuration(false))

  protected def values(topic: String): Seq[String] =
    seen.asScala.toSeq.collect { case (`topic`, value) => value }.sorted

  protected def numbers(partition: Int, range: Range): Seq[String] = range.map(n => f"$partition-$n%05d")

  /** Creates a topic, and writes the numbers of a range into each partition. Returns all values. */
  protected def filled(topic: String, partitions: Int, range: Range): Seq[String] = {
    create(topic, partitions)
    (0 until partitions).flatMap { p =>
      val values = numbers(p, range)
      write(topic, p, values)
      values
    }
  }

  protected def whole(topic: String, expected: Seq[String]): Unit =
    eventually(assert(values(topic) == expected.sorted))

  /** Stops the query after all offsets of the partitions are committed, so that no row is read again. */
  protected def stopAt(query: StreamingQuery, topic: String, ends: Long*): Unit = {
    committed(topic, ends: _*)
    stop(query)
  }

  protected def committed(topic: String, ends: Long*): Unit = {
    val text = ends.zipWithIndex.map { case (end, p) => s""""$p":$end""" }.mkString(s"""{"$topic":{""", ",", "}}")
    eventually(assert(logged(topic).committed().contains(text)))
  }

  protected def newest(topic: String, log: String): Long =
    checkpoint(topic).resolve(log).toFile.list().flatMap(_.toLongOption).max

  protected val long = Trigger.RealTime("10 minutes")

  protected def grow(topic: String, partitions: Int): Unit =
    Using.resource(broker.admin())(KafkaTopics.grow(_, topic, partitions))

  /** Deletes a topic, and creates a topic of the same name with one partition. */
  protected def recreate(topic: String): Unit = Using.resource(broker.admin()) { admin =>
    admin.deleteTopics(List(topic).asJava).all().get()
    eventually(assert(!admin.listTopics().names().get().contains(topic)))
    KafkaTopics.create(admin, topic, 1)
  }

  protected val continuous = Trigger.Continuous("200 milliseconds")

  /** Waits until a query fails, and returns the messages of its error and of the causes. In continuous mode, the error
    * of a reader is a cause.
    */
  protected def failure(query: StreamingQuery): String = {
    val error = intercept[StreamingQueryException](assert(query.awaitTermination(120000), "the query does not fail"))
    Iterator.unfold(Option[Throwable](error))(_.map(e => e.getMessage -> Option(e.getCause))).mkString("\n")
  }
}

object LiveQueries {

  /** Topics and values of all suites, whose topics have different names. */
  val seen = new ConcurrentLinkedQueue[(String, String)]

  /** Keeps rows of text in this JVM. */
  final class Collecting(pauseMillis: Long = 0) extends ForeachWriter[Row] {
    override def open(partition: Long, epoch: Long): Boolean = true
    override def process(row: Row): Unit                     = {
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(pauseMillis))
      val _ = seen.add(row.getString(0) -> row.getString(1))
    }
    override def close(error: Throwable): Unit = ()
  }
}
