// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.reader

import java.time.Duration

import scala.collection.immutable.SortedMap
import scala.collection.mutable
import scala.jdk.CollectionConverters._

import org.apache.kafka.clients.consumer._
import org.apache.kafka.common.errors.TimeoutException
import org.apache.kafka.common.{Node, PartitionInfo, TopicPartition}
import org.apache.spark.sql.types.StructType

import splice.kafka.internal.consumer.{ReadLease, SlotConsumer}
import splice.kafka.internal.options.{ClientProperties, TopicRecreated}
import splice.kafka.internal.pool.{FoundChanges, ReaderSettings}
import splice.kafka.internal.split.KafkaSplitRange
import splice.kafka.internal.topicids.TopicIds
import splice.kafka.internal.value.KafkaSchema
import splice.source.SplitReader
import splice.testkit.internal.Patient

/** Mock consumer that records seeks and the timeouts of polls. */
final private[kafka] class SlotClient extends MockConsumer[Array[Byte], Array[Byte]](OffsetResetStrategy.NONE) {
  val seeks: mutable.ArrayBuffer[(Int, Long)] = mutable.ArrayBuffer.empty

  override def seek(partition: TopicPartition, offset: Long): Unit = {
    seeks += partition.partition -> offset
    super.seek(partition, offset)
  }

  val timeouts: mutable.ArrayBuffer[Duration] = mutable.ArrayBuffer.empty

  /** Simulated time in nanoseconds. A poll without records takes its timeout. */
  var now = 0L

  override def poll(timeout: Duration): ConsumerRecords[Array[Byte], Array[Byte]] = {
    timeouts += timeout
    val records = super.poll(timeout)
    if (records.isEmpty) now += timeout.toNanos
    records
  }

  /** Throws at the next call of `position` for this partition. */
  var truncated: Option[TopicPartition] = None

  /** First offset with another record after the truncation; None if the leader does not know the offset. */
  var divergent: Option[Long] = None

  /** Partitions whose position is checked with a leader that does not respond. */
  var checking: Set[TopicPartition] = Set.empty

  override def position(partition: TopicPartition, timeout: Duration): Long =
    if (checking(partition)) throw new TimeoutException(s"no position of $partition within $timeout")
    else super.position(partition, timeout)

  override def position(partition: TopicPartition): Long = {
    if (truncated.contains(partition)) {
      truncated = None
      throw new LogTruncationException(
        s"$partition was truncated",
        Map(partition -> Long.box(super.position(partition))).asJava,
        divergent.map(offset => partition -> new OffsetAndMetadata(offset)).toMap.asJava
      )
    }
    super.position(partition)
  }

  def p(partition: Int) = new TopicPartition("t", partition)

  /** Partition of another topic. */
  def u(partition: Int) = new TopicPartition("u", partition)

  /** Makes the next polls return records at these offsets. */
  def bring(partition: Int, offsets: Long*): Unit = schedulePollTask(() => add(p(partition), offsets: _*))

  def add(partition: TopicPartition, offsets: Long*): Unit = offsets.foreach { o =>
    addRecord(new ConsumerRecord(partition.topic, partition.partition, o, Array[Byte](1), Array[Byte](2, 3)))
  }

  /** Sets the number of partitions of the topic in the client's metadata. */
  def know(partitions: Int): Unit = {
    val node = new Node(0, "mock", 9092)
    updatePartitions("t", (0 until partitions).map(new PartitionInfo("t", _, node, Array(node), Array(node))).asJava)
  }

  def hold(partition: Int, first: Long, end: Long): Unit = {
    updateBeginningOffsets(Map(p(partition) -> Long.box(first)).asJava)
    updateEndOffsets(Map(p(partition) -> Long.box(end)).asJava)
  }
}

/** Readers of one slot for consecutive batches, with Kafka's MockConsumer.
  *
  * @param simulated
  *   true if readers use the simulated time of the client
  */
final private[kafka] class SlotWorld(
    fail: Boolean = true,
    timeout: Duration = Patient.Limit,
    recreated: TopicRecreated = TopicRecreated.Fail,
    failRemoved: Boolean = true,
    lease: ReadLease = ReadLease.unlimited,
    failOutOfRange: Option[Boolean] = None,
    reused: Boolean = false,
    planned: Map[String, Int] = Map.empty,
    isTimed: Boolean = false,
    waits: Boolean = false,
    request: TopicIds.Request => TopicIds.Request = identity,
    simulated: Boolean = false
) {
  val client    = new SlotClient
  var topicId   = "first"
  var responses = 0L
  var requests  = 0

  @volatile var deleted = Set.empty[String]

  /** The ends that the cluster confirms, if they differ from the ends of the client. */
  var written = Map.empty[TopicPartition, Long]

  /** Partitions whose ends the cluster does not confirm. */
  var silent = Set.empty[TopicPartition]

  /** Called by each request for the ends of logs. */
  @volatile var onEnds: () => Unit = () => ()

  private def ids = Map("t" -> topicId, "u" -> "other").removedAll(deleted)

  private val requested = new TopicIds.Request {
    override def apply(planned: Map[String, String]): Map[String, String] = {
      requests += 1
      ids.filter { case (topic, _) => planned.contains(topic) }
    }

    override def ends(expected: Map[TopicPartition, Long]): Map[TopicPartition, Long] = {
      val now = (expected.keySet -- silent).iterator
        .map(p => p -> written.getOrElse(p, client.endOffsets(Set(p).asJava).get(p).longValue)).toMap
      onEnds()
      now
    }
  }

  val consumer = new SlotConsumer(client, new TopicIds(() => responses, request(requested)), lease)
  var returned = 0

  /** Changes that readers found. */
  val found = new FoundChanges

  /** Schedules a poll that finds the topic recreated. */
  def recreate(offsets: Long*): Unit = {
    client.schedulePollTask { () =>
      topicId = "second"
      responses += 1
      offsets.foreach(o => client.addRecord(new ConsumerRecord("t", 0, o, Array[Byte](1), Array[Byte](9))))
    }
  }
  private val own = ClientProperties(SortedMap("bootstrap.servers" -> "mock:9092"), None)

  private val columns = KafkaSchema(includeHeaders = false)

  def reader(ranges: KafkaSplitRange*): KafkaSplitReader = new KafkaSplitReader(columns, slot(ranges))

  def batches(ranges: KafkaSplitRange*): KafkaBatchReader = new KafkaBatchReader(columns, slot(ranges))

  def batchesOf(columns: StructType, ranges: KafkaSplitRange*): KafkaBatchReader =
    new KafkaBatchReader(columns, slot(ranges))

  private def slot(ranges: Seq[KafkaSplitRange]) = new SlotReader(
    ranges.toIndexedSeq,
    consumer,
    ReaderSettings(
      own,
      fail,
      timeout,
      Duration.ofMinutes(1),
      failOutOfRange = failOutOfRange.getOrElse(fail),
      planned = planned,
      reportKey = "run",
      recreated = recreated,
      failRemoved = failRemoved,
      waits = waits,
      isTimed = isTimed
    ),
    reused = reused,
    found = found,
    nanos = if (simulated) () => client.now else () => System.nanoTime()
  )(returned += 1)

  def read(ranges: KafkaSplitRange*): Seq[(Int, Long)] = {
    val r    = reader(ranges: _*)
    val rows = SlotWorld.drain(r)
    r.close()
    rows
  }
}

private[kafka] object SlotWorld {

  /** Reads all rows as partition and offset. */
  def drain(reader: KafkaSplitReader): Seq[(Int, Long)] =
    SplitReader.items(reader).map(row => (row.getInt(3), row.getLong(4))).toVector
}
