// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.reader

import java.time.Duration
import java.util.{ArrayList, Collections, List => JList}

import scala.collection.mutable
import scala.jdk.CollectionConverters._
import scala.jdk.OptionConverters._
import scala.util.Try

import org.apache.kafka.clients.consumer.{Consumer, ConsumerRecord, ConsumerRecords, KafkaConsumer}
import org.apache.kafka.common.TopicPartition
import org.apache.kafka.common.errors.TimeoutException

import splice.kafka.options.ReadLimits
import splice.kafka.split.{KafkaSplitRange, TopicPartitions}

/** One consumer for all partitions of a slot, and where it stands on each. Used by one thread at a time.
  *
  * A poll may bring more than a range asks for. What is left over is kept within the lease, and is the beginning of the next range if that
  * starts exactly where the last one ended; otherwise the consumer seeks.
  *
  * @param lease
  *   ends when the consumer is closed
  * @param passesBatches
  *   whether each polled record stands for a batch
  */
final private[splice] class SlotConsumer(
    consumer: Consumer[Array[Byte], Array[Byte]],
    ids: TopicIds = TopicIds.unchecked,
    val lease: ReadLease = ReadLease.unlimited,
    passesBatches: Boolean = false
) extends AutoCloseable {

  import SlotConsumer._

  private val stands   = mutable.HashMap.empty[TopicPartition, Stand]
  private var fetches  = 0.0
  private var kept     = 0L
  private val assigned = mutable.HashSet.empty[TopicPartition]

  // Of each topic that is assigned: how many metadata responses there were when a task read it last, and the id that was planned.
  private val readAt  = mutable.HashMap.empty[String, Long]
  private val planned = mutable.HashMap.empty[String, String]

  /** How many of the ranges begin where this consumer stands. */
  def fits(ranges: Iterable[KafkaSplitRange]): Int =
    ranges.count(range => stands.get(TopicPartitions.of(range.partition)).exists(_.offset == range.from))

  /** Whether the partitions are assigned, so that reading them needs no metadata. */
  def hasAssigned(partitions: Iterable[TopicPartition]): Boolean = partitions.forall(assigned)

  /** How many partitions are assigned once these are too. */
  def assignedWith(partitions: Iterable[TopicPartition]): Int = assigned.size + partitions.count(!assigned(_))

  /** Whether nothing that it holds is of other topics than these, by name and id. */
  def allows(topics: Map[String, String]): Boolean =
    ids.allow(topics) && topics.forall { case (topic, id) => planned.get(topic).forall(_ == id) }

  /** Those of the topics that have another id now, so that what was polled may be of another topic.
    *
    * @param polled
    *   the topics of which a poll returned something
    */
  def others(topics: Map[String, String], polled: String => Boolean): Set[String] = ids.others(topics, polled)

  /** Those of the topics that do not exist any more, if the client has a reason to ask. */
  def missing(topics: Map[String, String]): Set[String] = ids.missing(topics)

  /** Gets ready for the ranges of a task: the left over records with which each begins, if any. */
  def begin(ranges: Seq[KafkaSplitRange]): Map[TopicPartition, Leftover] = {
    val own = ranges.map(range => TopicPartitions.of(range.partition) -> range)
    val now = ids.response
    own.foreach { case (partition, range) =>
      readAt(partition.topic) = now
      range.topicId.foreach(planned(partition.topic) = _)
    }
    val unread = readAt.collect { case (topic, at) if now - at >= KeptResponses => topic }.toSet
    if (unread.nonEmpty) forget(unread)
    if (unread.nonEmpty || !hasAssigned(own.map(_._1))) {
      // The consumer of another slot.
      if (assignedWith(own.map(_._1)) > lease.limits.partitions) forgetOthers(own.map(_._1).toSet)
      assigned ++= own.map(_._1)
      consumer.assign(assigned.asJava)
    }
    consumer.pause(assigned.asJava)
    consumer.resume(own.map(_._1).asJava)
    own.flatMap { case (partition, range) =>
      remove(partition) match {
        case Some(stand) if stand.offset == range.from => stand.left.map(partition -> _)
        case _                                         =>
          consumer.seek(partition, range.from)
          None
      }
    }.toMap
  }

  /** A window for the records of this consumer. */
  def window: RecordWindow = if (passesBatches) new BatchRecords else new ClientRecords

  def poll(timeout: Duration): ConsumerRecords[Array[Byte], Array[Byte]] = consumer.poll(timeout)

  /** The offset after everything that polls have brought or passed over; None while the client checks it with the leader, which polls do,
    * and for which this does not wait.
    */
  def position(partition: TopicPartition): Option[Long] =
    try Some(consumer.position(partition, Duration.ZERO))
    catch { case _: TimeoutException => None }

  /** The range of a partition is read up to `offset`; `left` was polled and lies after it. If the lease has no room for it, the next range
    * seeks.
    */
  def finish(partition: TopicPartition, offset: Long, left: Option[Leftover]): Unit = {
    val _    = remove(partition)
    val more = left.fold(0L)(_.bytes)
    if (more <= room) {
      stands(partition) = Stand(offset, left)
      kept += more
    }
    consumer.pause(Collections.singleton(partition))
  }

  /** How many more bytes of left over records can be kept. */
  def room: Long = lease.limits.leftoverBytes - kept

  /** The bytes of left over records. */
  private[reader] def leftoverBytes: Long = kept

  private def remove(partition: TopicPartition): Option[Stand] = {
    val stand = stands.remove(partition)
    stand.foreach(one => kept -= one.left.fold(0L)(_.bytes))
    stand
  }

  /** Stops reading topics, so that the client requests no metadata of them. */
  def leave(topics: Set[String]): Unit = {
    forget(topics)
    consumer.assign(assigned.asJava)
  }

  private def forget(topics: Set[String]): Unit = {
    readAt --= topics
    planned --= topics
    unassign(assigned.filter(partition => topics(partition.topic)))
  }

  private def forgetOthers(partitions: Set[TopicPartition]): Unit = {
    unassign(assigned.filterNot(partitions))
    val topics = partitions.map(_.topic)
    readAt.filterInPlace((topic, _) => topics(topic))
    val _ = planned.filterInPlace((topic, _) => topics(topic))
  }

  private def unassign(partitions: Iterable[TopicPartition]): Unit = {
    partitions.foreach(remove)
    assigned --= partitions
  }

  /** Goes on at another offset, since the log does not hold the one before. */
  def skipTo(partition: TopicPartition, offset: Long): Unit = {
    val _ = remove(partition)
    consumer.seek(partition, offset)
  }

  /** The number of partitions in the client's metadata of a topic that is assigned; 0 if it has none. */
  def partitions(topic: String): Int =
    try consumer.partitionsFor(topic, Duration.ZERO).size
    catch { case _: TimeoutException => 0 }

  /** The end of the log as of the last fetch, if that is known. It waits for no server. */
  def end(partition: TopicPartition): Option[Long] = Try {
    for (lag <- consumer.currentLag(partition).toScala; at <- position(partition)) yield at + lag
  }.toOption.flatten

  /** First offset and end of the log. */
  def bounds(partition: TopicPartition): (Long, Long) = {
    val one = Collections.singleton(partition)
    (consumer.beginningOffsets(one).get(partition), consumer.endOffsets(one).get(partition))
  }

  /** Milliseconds that fetch requests took since this was last called, by the average that the client keeps. */
  def fetchMillis(): Long = {
    val figures = consumer.metrics().asScala.collect {
      case (name, metric) if name.group == FetchGroup && name.tags.size == 1 => name.name -> metric.metricValue
    }
    def figure(name: String) = figures.get(name).collect { case n: java.lang.Double if !n.isNaN => n.doubleValue }
    val before               = fetches
    fetches = figure("fetch-total").getOrElse(0.0)
    math.round((fetches - before) * figure("fetch-latency-avg").getOrElse(0.0))
  }

  /** Makes a poll of another thread return. */
  def wakeup(): Unit = {
    ids.cancel()
    consumer.wakeup()
  }

  override def close(): Unit =
    try consumer.close(Duration.ZERO)
    finally lease.release()
}

private[splice] object SlotConsumer {

  private val FetchGroup = "consumer-fetch-manager-metrics"

  // A client that has a deleted topic assigned requests metadata about once per second, and else every few minutes. So a deleted topic that no
  // task reads is left out soon, and a topic with few records stays.
  private val KeptResponses = 10L

  /** @param properties of the client, beside those by which the cluster is asked for topics' ids */
  def apply(properties: Map[String, Object], ask: TopicIds.Question, lease: ReadLease): SlotConsumer = {
    val watch  = new MetadataWatch
    val client = new KafkaConsumer(properties.asJava, watch, watch)
    val passes = lease.limits.batches && PassedBatches.install(client)
    val ids    = MetadataWatch.topicIds(client).fold(ask)(TopicIds.ofConsumer(_, ask))
    new SlotConsumer(client, new TopicIds(() => watch.count, ids), lease, passes)
  }

  /** Records of one partition that were polled and not handed over yet.
    *
    * @param bytes
    *   of these records on the heap
    */
  final case class Leftover(records: JList[ConsumerRecord[Array[Byte], Array[Byte]]], bytes: Long)

  object Leftover {

    /** The records of a poll from an index on. They keep neither the other records nor the broker's response in memory. */
    def of(polled: JList[ConsumerRecord[Array[Byte], Array[Byte]]], index: Int): Leftover = {
      val tail  = new ArrayList(polled.subList(index, polled.size))
      var bytes = 0L
      tail.forEach { record =>
        bytes += ReadLimits.RecordOverhead + math.max(record.serializedKeySize, 0) +
          math.max(record.serializedValueSize, 0)
        // A header refers to the response until it is read.
        record.headers.toArray.foreach { header =>
          bytes += ReadLimits.RecordOverhead + header.key.length + Option(header.value).fold(0)(_.length)
        }
      }
      Leftover(tail, bytes)
    }
  }

  /** Everything before `offset` was handed over; `left` comes next, then what the consumer polls. */
  final private case class Stand(offset: Long, left: Option[Leftover])
}
