// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.enumerator

import java.time.Duration
import java.util.concurrent.ExecutionException

import scala.collection.immutable.{ArraySeq, SortedMap, SortedSet}
import scala.jdk.CollectionConverters._
import scala.util.{Try, Using}

import org.apache.kafka.clients.admin.{Admin, DescribeTopicsOptions, OffsetSpec, TopicDescription}
import org.apache.kafka.clients.consumer.{Consumer, KafkaConsumer}
import org.apache.kafka.common.acl.AclOperation
import org.apache.kafka.common.errors.{
  TopicAuthorizationException,
  UnknownTopicOrPartitionException,
  UnsupportedVersionException
}
import org.apache.kafka.common.{KafkaFuture, TopicPartition, Uuid}

import splice.kafka.options.{KafkaSettings, Subscription}
import splice.kafka.split.TopicPartitions
import splice.source.{LogPartition, LogRecord}

/** A cluster, asked by Kafka's own clients.
  *
  * A consumer asks for offsets, since it keeps the leaders in mind and so needs one round trip a broker; an admin client
  * asks about topics, since it may be used by the discovery thread at the same time. Neither connects before it is needed.
  */
final private[splice] class KafkaLogMetadata(settings: KafkaSettings, run: String) extends LogMetadata {

  private val properties = settings.client
  private val calls      = new KafkaCalls(
    properties.servers,
    Duration.ofMillis(properties.timeoutMillis.toLong),
    settings.retries,
    settings.retryInterval,
    properties.secrets.hide
  )

  private var consumer: Option[Consumer[Array[Byte], Array[Byte]]] = None
  private var admin: Option[Admin]                                 = None
  private var commits: Option[GroupCommits]                        = None
  private var closed                                               = false

  override def describe(): LogDescription = calls("topics and partitions") {
    val client  = adminClient()
    val cluster = client.describeCluster().clusterId()
    val topics  = describeTopics(client)
    val found   = topics.flatMap { case (_, topic) => topic }
    LogDescription(
      Option(cluster.get()),
      SortedMap.from(found.filter(_.topicId != Uuid.ZERO_UUID).map(t => t.name -> t.topicId.toString)),
      SortedSet.from(found.flatMap(t => t.partitions.asScala.map(p => LogPartition(t.name, p.partition))))
        .filter(settings.subscription.covers),
      SortedSet.from(topics.collect { case (name, None) => name })
    )
  }

  override def earliest(partitions: Set[LogPartition]): Map[LogPartition, Long] =
    offsets("earliest offsets", partitions)((client, some) => client.beginningOffsets(some))

  override def topicIds(topics: Set[String]): () => Map[String, String] =
    if (topics.isEmpty) () => Map.empty
    else {
      val asked = calls("topic ids")(adminClient().describeTopics(topics.asJava).topicNameValues())
      () =>
        calls("topic ids") {
          asked.asScala.iterator.flatMap { case (name, answer) =>
            described(answer).map(d => name -> d.topicId.toString)
          }.toMap
        }
    }

  // Brokers before Kafka 2.3 have no rights in their response.
  override def checkReadable(topics: Set[String]): Unit = if (topics.nonEmpty) calls("access to topics") {
    val options = new DescribeTopicsOptions().includeAuthorizedOperations(true)
    val rights  = adminClient().describeTopics(topics.asJava, options).topicNameValues().asScala
    val denied  = rights.toSeq.collect { case (name, answer) if isDenied(answer) => name }
    if (denied.nonEmpty) throw new TopicAuthorizationException(denied.toSet.asJava)
  }

  private def isDenied(answer: KafkaFuture[TopicDescription]): Boolean =
    try described(answer).flatMap(topic => Option(topic.authorizedOperations)).exists(isDenied)
    catch { case e: ExecutionException if e.getCause.isInstanceOf[UnsupportedVersionException] => false }

  // A topic that was described has at least one right, so a broker that returns none does not support the question.
  private def isDenied(rights: java.util.Set[AclOperation]): Boolean =
    !rights.isEmpty && !rights.contains(AclOperation.READ) && !rights.contains(AclOperation.ALL)

  override def commit(offsets: Map[LogPartition, Long]): Unit = properties.group.foreach { group =>
    val committing = commits.getOrElse {
      val made = new GroupCommits(adminClient(), group)
      commits = Some(made)
      made
    }
    committing(offsets)
  }

  override def ends(partitions: Set[LogPartition]): Map[LogPartition, Long] = {
    // The consumer asks about every topic that it is assigned, also about one that was deleted.
    consumer.foreach { client =>
      if (partitions.nonEmpty && client.assignment().size > partitions.size)
        client.assign(partitions.map(TopicPartitions.of).asJava)
    }
    offsets("ends", partitions)((client, some) => client.endOffsets(some))
  }

  // The isolation level of an admin client is read_uncommitted.
  override def written(partitions: Set[LogPartition]): Map[LogPartition, Long] = calls("ends") {
    val asked = partitions.iterator.map(p => TopicPartitions.of(p) -> OffsetSpec.latest()).toMap
    val found = adminClient().listOffsets(asked.asJava).all().get()
    found.asScala.iterator.map { case (p, end) => TopicPartitions.toLog(p) -> end.offset }.toMap
  }

  override def atTime(millis: Map[LogPartition, Long]): Map[LogPartition, TimedOffset] = calls("offsets of a time") {
    val asked = millis.map { case (p, time) => TopicPartitions.of(p) -> Long.box(time) }.asJava
    assigned(millis.keySet).offsetsForTimes(asked).asScala.collect {
      case (p, found) if Option(found).nonEmpty =>
        TopicPartitions.toLog(p) -> TimedOffset(found.offset, found.timestamp)
    }.toMap
  }

  override def firstRecords(ranges: Map[LogPartition, (Long, Long)]): Map[LogPartition, Long] =
    fetch("first records", ranges, tolerant = false).map { case (p, record) => p -> record.offset }

  override def records(at: Map[LogPartition, Long]): Map[LogPartition, LogRecord] =
    fetch("records", at.map { case (p, offset) => p -> (offset -> (offset + 1)) }, tolerant = true).map {
      case (p, record) => p -> LogRecord(record.timestamp, Option(record.key).map(ArraySeq.unsafeWrapArray(_)))
    }

  // A separate consumer, because a consumer that polls keeps fetching its assigned partitions.
  private def fetch(
      what: String,
      ranges: Map[LogPartition, (Long, Long)],
      tolerant: Boolean
  ): Map[LogPartition, FirstRecords.Record] =
    if (ranges.isEmpty) Map.empty
    else
      calls(what) {
        Using.resource(new KafkaConsumer[Array[Byte], Array[Byte]](properties.driver(run).asJava)) { client =>
          FirstRecords(client, ranges, Duration.ofMillis(properties.timeoutMillis.toLong), tolerant)
        }
      }

  override def committed(partitions: Set[LogPartition]): Map[LogPartition, Long] = calls("committed offsets") {
    assigned(partitions).committed(partitions.map(TopicPartitions.of).asJava).asScala.collect {
      case (p, found) if Option(found).nonEmpty => TopicPartitions.toLog(p) -> found.offset
    }.toMap
  }

  override def close(): Unit = synchronized {
    closed = true
    // An interrupted thread must still be able to close: what the clients say of it is of no use to anybody.
    try commits.foreach(_.close())
    finally {
      consumer.foreach(c => Try(c.close(Duration.ZERO)))
      admin.foreach(a => Try(a.close(Duration.ZERO)))
    }
  }

  private def offsets(asked: String, partitions: Set[LogPartition])(
      ask: (Consumer[_, _], java.util.Collection[TopicPartition]) => java.util.Map[TopicPartition, java.lang.Long]
  ): Map[LogPartition, Long] =
    if (partitions.isEmpty) Map.empty
    else
      calls(asked) {
        ask(assigned(partitions), partitions.map(TopicPartitions.of).asJava).asScala.map { case (p, offset) =>
          TopicPartitions.toLog(p) -> offset.longValue
        }.toMap
      }

  // Partitions are assigned for one reason: the consumer keeps the metadata of topics that are.
  private def assigned(partitions: Set[LogPartition]): Consumer[Array[Byte], Array[Byte]] = {
    val client = consumer.getOrElse {
      val made = new KafkaConsumer[Array[Byte], Array[Byte]](properties.driver(run).asJava)
      consumer = Some(made)
      made
    }
    val wanted = partitions.map(TopicPartitions.of).asJava
    if (!client.assignment().containsAll(wanted)) {
      val all = new java.util.HashSet(client.assignment())
      all.addAll(wanted)
      client.assign(all)
    }
    client
  }

  private def adminClient(): Admin = synchronized {
    if (closed) throw new InterruptedException("the source is closed")
    admin.getOrElse {
      val made = Admin.create(properties.admin.asJava)
      admin = Some(made)
      made
    }
  }

  private def describeTopics(client: Admin): Seq[(String, Option[TopicDescription])] = {
    val names = settings.subscription match {
      case Subscription.Topics(some)          => some.toSeq
      case Subscription.Assigned(partitions)  => partitions.toSeq.map(_.topic).distinct
      case pattern: Subscription.TopicPattern =>
        client.listTopics().names().get().asScala.filter(pattern.matches).toSeq.sorted
    }
    val named = !settings.subscription.isInstanceOf[Subscription.TopicPattern]
    client.describeTopics(names.asJava).topicNameValues().asScala.toSeq.sortBy(_._1).flatMap { case (name, answer) =>
      try described(answer) match {
          case None  => if (named) Some(name -> None) else None
          case topic => Some(name -> topic)
        }
      catch {
        case e: ExecutionException if !named && e.getCause.isInstanceOf[TopicAuthorizationException] => None
      }
    }
  }

  private def described(answer: KafkaFuture[TopicDescription]): Option[TopicDescription] =
    try Some(answer.get())
    catch { case e: ExecutionException if e.getCause.isInstanceOf[UnknownTopicOrPartitionException] => None }
}
