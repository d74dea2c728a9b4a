// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.broker

import java.time.{Clock, Duration}
import java.util.concurrent.Future

import scala.jdk.CollectionConverters._
import scala.util.Using

import org.apache.kafka.clients.admin.Admin
import org.apache.kafka.clients.consumer.KafkaConsumer
import org.apache.kafka.clients.producer.{KafkaProducer, ProducerRecord, RecordMetadata}
import org.apache.kafka.common.serialization.{StringDeserializer, StringSerializer}
import org.apache.spark.sql.types.StructType

import splice.coordinator.internal.Coordinator
import splice.coordinator.internal.sidelog.MemorySideLog
import splice.coordinator.internal.slots.{CutRules, SlotRules}
import splice.source._
import splice.source.options.SourceOptions
import splice.source.runtime.SideLog
import splice.testkit.internal.Patient
import splice.testkit.{KafkaBroker, KafkaTopics}

/** Helpers for suites with a real broker: topics, records, and runs of a source. */
final class RealLog(broker: KafkaBroker) {

  def admin[A](use: Admin => A): A = Using.resource(broker.admin())(use)

  def create(topic: String, partitions: Int, config: (String, String)*): Unit =
    admin(KafkaTopics.create(_, topic, partitions, config: _*))

  def producer(settings: (String, String)*): KafkaProducer[String, String] = {
    val all = Map[String, Object](
      "bootstrap.servers" -> broker.servers,
      "key.serializer"    -> classOf[StringSerializer].getName,
      "value.serializer"  -> classOf[StringSerializer].getName
    ) ++ settings
    new KafkaProducer[String, String](all.asJava)
  }

  def consumer(settings: (String, String)*): KafkaConsumer[String, String] = {
    val all = Map[String, Object](
      "bootstrap.servers"  -> broker.servers,
      "key.deserializer"   -> classOf[StringDeserializer].getName,
      "value.deserializer" -> classOf[StringDeserializer].getName,
      "enable.auto.commit" -> "false"
    ) ++ settings
    new KafkaConsumer[String, String](all.asJava)
  }

  /** Writes values from `from` until `until` to the partitions of a topic in turns. */
  def write(topic: String, partitions: Int, from: Int, until: Int): Unit = Using.resource(producer()) { out =>
    val sent: Seq[Future[RecordMetadata]] = (from until until).map(i =>
      out.send(new ProducerRecord(topic, i % partitions, s"k$i", s"v$i"))
    )
    sent.foreach(_.get())
  }

  def source(options: (String, String)*): Source[_ <: Position] =
    SourceProvider.create(SourceOptions(Map("source" -> "kafka", "kafka.bootstrap.servers" -> broker.servers) ++
      options))

  def run[A](
      source: Source[_ <: Position],
      log: SideLog = new MemorySideLog,
      slots: Int = 2,
      cut: CutRules = CutRules.Never
  )(use: Coordinator => A): A = {
    val context = EnumeratorContext(log, ReadMode.Stream, Clock.systemUTC(), slots, "run")
    Using.resource(new Coordinator(source, context, SlotRules(slots).copy(cut = cut), batchesToRetain = 100))(use)
  }

  /** Creates the readers of a batch. Tasks of the same run share pooled consumers. */
  def readers(
      source: Source[_ <: Position],
      columns: StructType,
      tasks: Seq[TaskRanges],
      run: String,
      mode: ReadMode = ReadMode.Stream
  ): SplitReaderFactory = SplitEnumerator
    .untyped(source, EnumeratorContext(new MemorySideLog, mode, Clock.systemUTC(), 2, run))
    .readers(columns, tasks.flatMap(_.ranges))

  /** Reads a batch. Returns rows as (partition, offset, value). */
  def rows(
      source: Source[_ <: Position],
      tasks: Seq[TaskRanges],
      run: String = "run",
      mode: ReadMode = ReadMode.Stream
  ): Seq[(Int, Long, String)] = {
    val factory = readers(source, source.schema, tasks, run, mode)
    tasks.flatMap { task =>
      Using.resource(factory.rows(task)) { reader =>
        SplitReader
          .items(reader)
          .map { row =>
            (row.getInt(3), row.getLong(4), Option(row.getBinary(1)).map(new String(_)).orNull)
          }
          .toVector
      }
    }
  }

  /** Advances to the end of the available data. */
  def all(c: Coordinator, from: Position): Position = c.advance(from, everything = true)

  /** Advances until the condition holds, because clients may need some time to find a leader. */
  def until(c: Coordinator, from: Position, within: Duration = Patient.Limit)(
      reached: Position => Boolean
  ): Position = {
    var at = from
    eventually(s"a position after ${from.json}", within) {
      at = all(c, at)
      reached(at)
    }
    at
  }

  /** Advances to the next position. */
  def moved(c: Coordinator, from: Position): Position = until(c, from)(_ != from)

  /** Waits until a topic of one partition ends at an offset with read_committed. Brokers write the markers of a
    * transaction after its confirmation.
    */
  def awaitEnd(topic: String, end: Long): Unit = {
    val committed = source("subscribe" -> topic, "kafka.isolation.level" -> "read_committed")
    eventually("the markers")(run(committed)(_.initial()).json == s"""{"$topic":{"0":$end}}""")
  }

  /** Waits until a condition holds. */
  def eventually(what: String, within: Duration = Patient.Limit)(condition: => Boolean): Unit =
    Patient.until(what, within)(condition)

  def exists(topic: String): Boolean = admin(_.listTopics().names().get()).contains(topic)

  def delete(topic: String): Unit = {
    admin(_.deleteTopics(Seq(topic).asJava).all().get())
    eventually(s"$topic is deleted")(!exists(topic))
  }
}
