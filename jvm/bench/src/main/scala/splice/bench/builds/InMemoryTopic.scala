// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.bench.builds

import java.time.Duration
import java.util.{ArrayList, Collection => JCollection, Collections, HashMap => JHashMap, Map => JMap}

import scala.collection.immutable.SortedMap
import scala.jdk.CollectionConverters._

import org.apache.kafka.clients.consumer.{ConsumerRecord, ConsumerRecords, MockConsumer, OffsetResetStrategy}
import org.apache.kafka.common.{Metric, MetricName, TopicPartition}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.{DataType, StringType, StructType}
import org.apache.spark.sql.vectorized.ColumnarBatch
import org.apache.spark.unsafe.types.UTF8String

import splice.bench.KafkaLoad
import splice.hybrid.internal.select.RowShape
import splice.kafka.internal.consumer.SlotConsumer
import splice.kafka.internal.options.ClientProperties
import splice.kafka.internal.pool.ReaderSettings
import splice.kafka.internal.reader.{KafkaBatchReader, KafkaSplitReader, SlotReader}
import splice.kafka.internal.split.KafkaSplitRange
import splice.kafka.internal.value.KafkaSchema
import splice.source.internal.ReaderSequence
import splice.source.{LogPartition, SplitReader}

/** Topic in memory, with the real readers.
  *
  * @param rows
  *   number of records, distributed equally over the partitions
  */
final class InMemoryTopic(rows: Int) {

  private val partitions = 0 until InMemoryTopic.Partitions
  private val polls      = InMemoryTopic.polls(rows / InMemoryTopic.Partitions)
  private val ranges     = partitions.map(p =>
    KafkaSplitRange(LogPartition(InMemoryTopic.Topic, p), 0, (rows / InMemoryTopic.Partitions).toLong)(None)
  )

  val schema: StructType = KafkaSchema(includeHeaders = false)

  /** Reader of all rows with one consumer. */
  def rowReader(): SplitReader[InternalRow] = new KafkaSplitReader(schema, slot(ranges, new InMemoryConsumer(polls)))

  /** Reader of all rows in column batches with one consumer. */
  def batchReader(): SplitReader[ColumnarBatch] =
    new KafkaBatchReader(schema, slot(ranges, new InMemoryConsumer(polls)))

  /** Reader of all rows with one reader and consumer per partition. Several readers are open at a time. Every second
    * poll of a consumer returns no record.
    */
  def sequence(): SplitReader[InternalRow] = new ReaderSequence(
    ranges.map { range =>
      val part = polls.filter(_.partition.partition == range.partition.partition)
      Seq(range) -> (() => new KafkaSplitReader(schema, slot(Vector(range), new InMemoryConsumer(part, pauses = true))))
    },
    InMemoryTopic.AtOnce
  )

  /** Shape of a `select` that reverses the columns and adds the name of the leg. */
  def view: RowShape.View = {
    val columns: IndexedSeq[RowShape.Cell] = schema.indices.reverse.map(RowShape.Cell.Column(_))
    val types: IndexedSeq[DataType]        = schema.indices.reverse.map(schema(_).dataType)
    RowShape.View(columns :+ RowShape.Cell.Constant(UTF8String.fromString("live")), types :+ StringType)
  }

  /** Stream of each topic. */
  def streams: Map[String, String] = Map(InMemoryTopic.Topic -> "orders")

  private def slot(ranges: IndexedSeq[KafkaSplitRange], consumer: InMemoryConsumer): SlotReader =
    new SlotReader(ranges, new SlotConsumer(consumer), InMemoryTopic.Settings, reused = false)(())
}

private object InMemoryTopic {

  private val Topic      = "bench"
  private val Partitions = 4
  private val AtOnce     = 4
  private val Bytes      = 100

  // Number of records per poll.
  private val PerPoll = 500

  private val Settings = ReaderSettings(
    ClientProperties(SortedMap("bootstrap.servers" -> "memory:9092"), None),
    failOnDataLoss = true,
    pollTimeout = Duration.ofMinutes(1),
    idleTimeout = Duration.ofMinutes(1),
    failOutOfRange = true
  )

  /** Creates polls of the partitions in turns. */
  private def polls(perPartition: Int): Array[InMemoryConsumer.Polled] = {
    val values = KafkaLoad.values(1 << 10, Bytes)
    val all    = for {
      from      <- 0 until perPartition by PerPoll
      partition <- 0 until Partitions
    } yield {
      val until   = math.min(from + PerPoll, perPartition)
      val records = (from until until).map { i =>
        new ConsumerRecord(Topic, partition, i.toLong, BigInt(i).toByteArray, values(i % values.length))
      }
      InMemoryConsumer.Polled(new TopicPartition(Topic, partition), records, until.toLong)
    }
    all.toArray
  }
}

/** Client that only returns prepared records, so the measured time is the time of Splice.
  *
  * @param pauses
  *   true if every second poll returns no record
  */
final private class InMemoryConsumer(polls: Array[InMemoryConsumer.Polled], pauses: Boolean = false)
    extends MockConsumer[Array[Byte], Array[Byte]](OffsetResetStrategy.NONE) {

  private val positions = new JHashMap[TopicPartition, java.lang.Long]
  private var calls     = 0
  private var at        = 0

  override def poll(timeout: Duration): ConsumerRecords[Array[Byte], Array[Byte]] = {
    calls += 1
    if (at == polls.length || (pauses && calls % 2 == 1)) ConsumerRecords.empty()
    else {
      val polled = polls(at)
      at += 1
      positions.put(polled.partition, polled.until)
      polled.records
    }
  }

  override def position(partition: TopicPartition): Long = positions.getOrDefault(partition, 0L)

  override def metrics: JMap[MetricName, _ <: Metric]                = Collections.emptyMap[MetricName, Metric]()
  override def assign(to: JCollection[TopicPartition]): Unit         = ()
  override def pause(partitions: JCollection[TopicPartition]): Unit  = ()
  override def resume(partitions: JCollection[TopicPartition]): Unit = ()
  override def seek(partition: TopicPartition, offset: Long): Unit   = ()
}

private object InMemoryConsumer {

  /** Result of one poll: records of one partition, and the next position. */
  final case class Polled(
      partition: TopicPartition,
      records: ConsumerRecords[Array[Byte], Array[Byte]],
      until: java.lang.Long
  )

  object Polled {
    def apply(
        partition: TopicPartition,
        records: Seq[ConsumerRecord[Array[Byte], Array[Byte]]],
        until: Long
    ): Polled = new Polled(
      partition,
      new ConsumerRecords(Collections.singletonMap(partition, new ArrayList(records.asJava))),
      until
    )
  }
}
