// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.consumer

import java.time.Duration
import java.util.{ArrayList, Collections, List => JList}

import scala.collection.mutable
import scala.jdk.CollectionConverters._
import scala.jdk.OptionConverters._
import scala.util.control.NonFatal

import org.apache.kafka.clients.consumer.{
  Consumer,
  ConsumerRecord,
  ConsumerRecords,
  KafkaConsumer,
  OffsetOutOfRangeException
}
import org.apache.kafka.common.TopicPartition
import org.apache.kafka.common.errors.TimeoutException

import splice.kafka.internal.options.ReadLimits
import splice.kafka.internal.split.{KafkaSplitRange, TopicPartitions}
import splice.kafka.internal.topicids.{MetadataWatch, TopicIds}

/** The consumer of all partitions of a slot, with its position in each partition. Used by one thread at a time.
  *
  * A poll may return records after the end of a range. The consumer keeps these leftover records within the limits of
  * the lease. If the next range starts where the last range ended, it begins with the leftover records. Otherwise, the
  * consumer seeks.
  *
  * @param lease
  *   the memory limits of the consumer; the lease ends when the consumer is closed
  * @param passesBatches
  *   true if each polled record represents batches
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

  // For each assigned topic, the number of metadata responses when a task last read the topic, and the planned id.
  private val readAt  = mutable.HashMap.empty[String, Long]
  private val planned = mutable.HashMap.empty[String, String]

  /** The number of ranges that begin at the position of this consumer. */
  def fits(ranges: Iterable[KafkaSplitRange]): Int =
    ranges.count(range => stands.get(TopicPartitions.of(range.partition)).exists(_.offset == range.from))

  /** True if the partitions are assigned, so that the consumer needs no new metadata. */
  def hasAssigned(partitions: Iterable[TopicPartition]): Boolean = partitions.forall(assigned)

  /** The number of assigned partitions after these partitions are assigned. */
  def assignedWith(partitions: Iterable[TopicPartition]): Int = assigned.size + partitions.count(!assigned(_))

  /** True if the consumer has no data of topics with the same names and other ids. */
  def allows(topics: Map[String, String]): Boolean =
    ids.allow(topics) && topics.forall { case (topic, id) => planned.get(topic).forall(_ == id) }

  /** The topics that have another id now, so that polled records may belong to another topic.
    *
    * @param polled
    *   true for a topic if a poll returned data of the topic
    */
  def others(topics: Map[String, String], polled: String => Boolean): Set[String] = ids.others(topics, polled)

  /** The topics that no longer exist; None while a request is running. Sends a request only if the client's metadata has
    * changed ([[TopicIds.missing]]).
    */
  def missing(topics: Map[String, String]): Option[Set[String]] = ids.missing(topics)

  /** Prepares the ranges of a task. Returns the leftover records with which ranges begin. */
  def begin(ranges: Seq[KafkaSplitRange]): Map[TopicPartition, Leftover] = {
    val pairs = ranges.map(range => TopicPartitions.of(range.partition) -> range)
    val now   = ids.response
    pairs.foreach { case (partition, range) =>
      readAt(partition.topic) = now
      range.topicId.foreach(planned(partition.topic) = _)
    }
    val unread = readAt.collect { case (topic, at) if now - at >= KeptResponses => topic }.toSet
    if (unread.nonEmpty) forget(unread)
    if (unread.nonEmpty || !hasAssigned(pairs.map(_._1))) {
      // The assigned partitions belong to another slot.
      if (assignedWith(pairs.map(_._1)) > lease.limits.partitions) forgetOthers(pairs.map(_._1).toSet)
      assigned ++= pairs.map(_._1)
      consumer.assign(assigned.asJava)
    }
    consumer.pause(assigned.asJava)
    consumer.resume(pairs.map(_._1).asJava)
    pairs.flatMap { case (partition, range) =>
      remove(partition) match {
        case Some(stand) if stand.offset == range.from => stand.left.map(partition -> _)
        case _                                         =>
          consumer.seek(partition, range.from)
          None
      }
    }.toMap
  }

  /** Creates a window for the records of this consumer. */
  def window: RecordWindow = if (passesBatches) new BatchRecords else new ClientRecords

  def poll(timeout: Duration): ConsumerRecords[Array[Byte], Array[Byte]] = consumer.poll(timeout)

  /** The offset after all records that polls have returned or skipped.
    *
    * Returns None while the client validates the position with the leader. Polls execute the validation, and this
    * method does not wait for the validation.
    */
  def position(partition: TopicPartition): Option[Long] =
    try Some(consumer.position(partition, Duration.ZERO))
    catch { case _: TimeoutException => None }

  /** Ends the range of a partition at `offset`. `left` contains the polled records after this offset. If the
    * lease does not allow the bytes of these records, the next range seeks.
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

  /** The number of bytes of leftover records that can still be kept. */
  def room: Long = lease.limits.leftoverBytes - kept

  /** The bytes of left over records. */
  private[kafka] def leftoverBytes: Long = kept

  private def remove(partition: TopicPartition): Option[Stand] = {
    val stand = stands.remove(partition)
    stand.foreach(removed => kept -= removed.left.fold(0L)(_.bytes))
    stand
  }

  /** Stops reading topics, so that the client requests no metadata of these topics. */
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

  /** Continues at another offset, because the log does not contain the previous offset. */
  def skipTo(partition: TopicPartition, offset: Long): Unit = {
    val _ = remove(partition)
    consumer.seek(partition, offset)
  }

  /** The number of partitions of an assigned topic in the client's metadata; 0 without metadata of the topic. */
  def partitions(topic: String): Int =
    try consumer.partitionsFor(topic, Duration.ZERO).size
    catch { case _: TimeoutException => 0 }

  /** The end of the log as of the last fetch; None if the end is not available. Does not wait for a server.
    *
    * @throws org.apache.kafka.clients.consumer.OffsetOutOfRangeException
    *   if the client has found that the log no longer contains the position. The client throws this error once
    */
  def end(partition: TopicPartition): Option[Long] =
    try for (lag <- consumer.currentLag(partition).toScala; at <- position(partition)) yield at + lag
    catch {
      case e: OffsetOutOfRangeException => throw e
      case NonFatal(_)                  => None
    }

  /** The ends of logs, as of new clients. The result omits partitions that do not respond. Any thread may call this
    * method.
    *
    * @param expected
    *   the least end of each partition if no record was lost
    */
  def confirmedEnds(expected: Map[TopicPartition, Long]): Map[TopicPartition, Long] = ids.ends(expected)

  /** The first offset and the end of the log for this client. A client with outdated metadata may return an end that is
    * too low. For a client with read_committed, the log ends at the first open transaction.
    */
  def bounds(partition: TopicPartition): (Long, Long) = {
    val requested = Collections.singleton(partition)
    (consumer.beginningOffsets(requested).get(partition), consumer.endOffsets(requested).get(partition))
  }

  /** The duration of fetch requests since the last call, in milliseconds, computed from the average of the client. */
  def fetchMillis(): Long = {
    val figures = consumer.metrics().asScala.collect {
      case (name, metric) if name.group == FetchGroup && name.tags.size == 1 => name.name -> metric.metricValue
    }
    def figure(name: String) = figures.get(name).collect { case n: java.lang.Double if !n.isNaN => n.doubleValue }
    val before               = fetches
    fetches = figure("fetch-total").getOrElse(0.0)
    math.round((fetches - before) * figure("fetch-latency-avg").getOrElse(0.0))
  }

  /** Makes a running poll of another thread return. */
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

  // While a deleted topic is assigned, the client requests metadata about once per second, otherwise every few minutes.
  // A topic is unassigned after this number of metadata responses without a read. A deleted topic is therefore
  // unassigned soon, but a topic with few records remains assigned.
  private val KeptResponses = 10L

  /** @param properties the properties of the consumer; requests for topic ids have a separate client */
  def apply(properties: Map[String, Object], request: TopicIds.Request, lease: ReadLease): SlotConsumer = {
    val watch  = new MetadataWatch
    val client = new KafkaConsumer(properties.asJava, watch, watch)
    val passes = lease.limits.batches && PassedBatches.install(client)
    val ids    = MetadataWatch.topicIds(client).fold(request)(TopicIds.ofConsumer(_, request))
    new SlotConsumer(client, new TopicIds(() => watch.count, ids), lease, passes)
  }

  /** Records of one partition that were polled and not returned.
    *
    * @param bytes
    *   the size of these records on the heap
    */
  final case class Leftover(records: JList[ConsumerRecord[Array[Byte], Array[Byte]]], bytes: Long)

  object Leftover {

    /** The records of a poll from an index on. The result keeps neither the other records nor the broker's response in
      * memory.
      */
    def of(polled: JList[ConsumerRecord[Array[Byte], Array[Byte]]], index: Int): Leftover = {
      val tail  = new ArrayList(polled.subList(index, polled.size))
      var bytes = 0L
      tail.forEach { record =>
        bytes += ReadLimits.RecordOverhead + math.max(record.serializedKeySize, 0) +
          math.max(record.serializedValueSize, 0)
        // A header refers to the response until its first use.
        record.headers.toArray.foreach { header =>
          bytes += ReadLimits.RecordOverhead + header.key.length + Option(header.value).fold(0)(_.length)
        }
      }
      Leftover(tail, bytes)
    }
  }

  /** The position in a partition. All records before `offset` were returned. `left` contains the next records, before
    * the records of the next poll.
    */
  final private case class Stand(offset: Long, left: Option[Leftover])
}
