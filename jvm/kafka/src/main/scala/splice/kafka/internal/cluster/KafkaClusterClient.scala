// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.cluster

import java.time.Duration
import java.util.concurrent.ExecutionException

import scala.collection.immutable.{SortedMap, SortedSet}
import scala.jdk.CollectionConverters._
import scala.util.{Try, Using}

import org.apache.kafka.clients.admin.ListOffsetsResult.ListOffsetsResultInfo
import org.apache.kafka.clients.admin.{Admin, DescribeTopicsOptions, ListOffsetsOptions, OffsetSpec, TopicDescription}
import org.apache.kafka.clients.consumer.{Consumer, ConsumerConfig, KafkaConsumer}
import org.apache.kafka.common.acl.AclOperation
import org.apache.kafka.common.errors.{
  TopicAuthorizationException,
  UnknownTopicOrPartitionException,
  UnsupportedVersionException
}
import org.apache.kafka.common.{IsolationLevel, KafkaFuture, TopicPartition, Uuid}

import splice.kafka.internal.options.{ClientProperties, KafkaSettings, Subscription}
import splice.kafka.internal.split.TopicPartitions
import splice.source.LogPartition

/** The metadata of a cluster, from Kafka's clients.
  *
  * A consumer requests offsets, because a consumer caches the leaders and needs one round trip per broker. An admin
  * client requests topics, because admin clients are thread-safe and the discovery thread sends requests at the same
  * time. Each client connects at its first use.
  */
final private[splice] class KafkaClusterClient(settings: KafkaSettings, run: String) extends ClusterClient {

  import KafkaClusterClient._

  private val properties = settings.client
  private val timeout    = Duration.ofMillis(properties.timeoutMillis.toLong)
  private val calls      =
    new KafkaCalls(properties.servers, timeout, settings.retries, settings.retryInterval, properties.secrets.hide)

  private var consumer: Option[Consumer[Array[Byte], Array[Byte]]] = None
  private var admin: Option[Admin]                                 = None
  private var commits: Option[GroupCommitter]                      = None
  private var closed                                               = false

  override def describe(): LogDescription = calls("topics and partitions") {
    val client       = adminClient()
    val cluster      = client.describeCluster().clusterId()
    val topics       = describeTopics(client)
    val descriptions = topics.flatMap { case (_, topic) => topic }
    LogDescription(
      Option(cluster.get()),
      SortedMap.from(descriptions.filter(_.topicId != Uuid.ZERO_UUID).map(t => t.name -> t.topicId.toString)),
      SortedSet.from(descriptions.flatMap(t => t.partitions.asScala.map(p => LogPartition(t.name, p.partition))))
        .filter(settings.subscription.covers),
      SortedSet.from(topics.collect { case (name, None) => name })
    )
  }

  override def earliest(partitions: Set[LogPartition]): Map[LogPartition, Long] =
    offsets("earliest offsets", partitions)((client, requested) => client.beginningOffsets(requested))

  override def topicStates(topics: Set[String]): () => Map[String, DescribedTopic] =
    if (topics.isEmpty) () => Map.empty
    else {
      val requested = calls("topic ids")(adminClient().describeTopics(topics.asJava).topicNameValues())
      () =>
        calls("topic ids") {
          requested.asScala.iterator.flatMap { case (name, response) =>
            permitted(name, response).map(d => name -> state(d))
          }.toMap
        }
    }

  // Brokers before Kafka 2.3 return no access rights.
  override def checkReadable(topics: Set[String]): Unit = if (topics.nonEmpty) calls("access to topics") {
    val options = new DescribeTopicsOptions().includeAuthorizedOperations(true)
    val rights  = adminClient().describeTopics(topics.asJava, options).topicNameValues().asScala
    val denied  = rights.toSeq.collect { case (name, response) if isDenied(name, response) => name }
    if (denied.nonEmpty) throw new TopicAuthorizationException(denied.toSet.asJava)
  }

  private def isDenied(name: String, response: KafkaFuture[TopicDescription]): Boolean =
    try described(name, response).flatMap(topic => Option(topic.authorizedOperations)).exists(isDenied)
    catch { case e: ExecutionException if e.getCause.isInstanceOf[UnsupportedVersionException] => false }

  // A topic that was described has at least one right. A broker that returns no right therefore does not support the
  // request.
  private def isDenied(rights: java.util.Set[AclOperation]): Boolean =
    !rights.isEmpty && !rights.contains(AclOperation.READ) && !rights.contains(AclOperation.ALL)

  override def commit(offsets: Map[LogPartition, Long]): Unit = properties.group.foreach { group =>
    val committing = commits.getOrElse {
      val created = new GroupCommitter(adminClient(), group)
      commits = Some(created)
      created
    }
    committing(offsets)
  }

  override def flushCommits(): Boolean = commits.forall(_.flush())

  override def ends(partitions: Set[LogPartition]): Map[LogPartition, Long] =
    offsets("ends", partitions) { (client, requested) =>
      leaveOthers(client, requested)
      client.endOffsets(requested)
    }

  override def endsSoon(partitions: Set[LogPartition]): OffsetAnswers[Long] =
    if (partitions.isEmpty) OffsetAnswers(Map.empty) else calls("ends")(endRequests(partitions))

  override def earliestSoon(partitions: Set[LogPartition]): OffsetAnswers[Long] =
    if (partitions.isEmpty) OffsetAnswers(Map.empty) else calls("earliest offsets")(earliestRequests(partitions))

  private lazy val endRequests =
    requests("the end", OffsetSpec.latest(), OffsetRequests.offset) { (client, requested, patience) =>
      leaveOthers(client, requested)
      toLog(client.endOffsets(requested, patience))
    }

  private lazy val earliestRequests = requests("the earliest offset", OffsetSpec.earliest(), OffsetRequests.offset) {
    (client, requested, patience) => toLog(client.beginningOffsets(requested, patience))
  }

  // A request for an earlier time must not answer a request for another time.
  override def atTimeSoon(millis: Long, partitions: Set[LogPartition]): OffsetAnswers[TimedOffset] =
    if (partitions.isEmpty) OffsetAnswers(Map.empty)
    else
      calls("offsets of a time")(requests(
        "the offset of a time",
        OffsetSpec.forTimestamp(millis),
        OffsetRequests.timed
      ) {
        (client, requested, patience) =>
          OffsetRequests.records(client.offsetsForTimes(
            requested.asScala.map(_ -> Long.box(millis)).toMap.asJava,
            patience
          ))
      }(partitions))

  private def requests[A](name: String, spec: OffsetSpec, read: ListOffsetsResultInfo => Option[A])(
      request: (Consumer[_, _], java.util.Collection[TopicPartition], Duration) => Map[LogPartition, A]
  ): OffsetRequests[A] = {
    val isolation = properties.properties.get(ConsumerConfig.ISOLATION_LEVEL_CONFIG).map(_.trim) match {
      case Some("read_committed") => IsolationLevel.READ_COMMITTED
      case _                      => IsolationLevel.READ_UNCOMMITTED
    }
    val soon = Seq(timeout, Soon).min
    new OffsetRequests(name, properties.servers, soon, settings.retryInterval, properties.secrets.hide)(
      (partitions, patience) => request(assigned(partitions), partitions.map(TopicPartitions.of).asJava, patience),
      { partitions =>
        val requested = partitions.iterator.map(p => TopicPartitions.of(p) -> spec).toMap.asJava
        val result    = adminClient().listOffsets(requested, new ListOffsetsOptions(isolation))
        partitions.iterator.map(p => p -> result.partitionResult(TopicPartitions.of(p))).toMap
      },
      read
    )
  }

  // The consumer requests metadata of every assigned topic, including deleted topics.
  private def leaveOthers(client: Consumer[_, _], partitions: java.util.Collection[TopicPartition]): Unit =
    if (client.assignment().size > partitions.size) client.assign(partitions)

  // An admin client reads with isolation level read_uncommitted by default.
  override def written(partitions: Set[LogPartition]): Map[LogPartition, Long] = calls("ends") {
    val requested = partitions.iterator.map(p => TopicPartitions.of(p) -> OffsetSpec.latest()).toMap
    val result    = adminClient().listOffsets(requested.asJava).all().get()
    result.asScala.iterator.map { case (p, end) => TopicPartitions.toLog(p) -> end.offset }.toMap
  }

  override def atTime(millis: Map[LogPartition, Long]): Map[LogPartition, TimedOffset] = calls("offsets of a time") {
    val requested = millis.map { case (p, time) => TopicPartitions.of(p) -> Long.box(time) }.asJava
    OffsetRequests.records(assigned(millis.keySet).offsetsForTimes(requested))
  }

  override def firstRecords(ranges: Map[LogPartition, (Long, Long)]): Map[LogPartition, Long] =
    fetch("first records", properties, ranges, tolerant = false).transform((_, record) => record.offset)

  override def nextRecords(ranges: Map[LogPartition, (Long, Long)]): Map[LogPartition, TimedOffset] =
    fetch("next records", properties, ranges, tolerant = true)

  override def times(at: Map[LogPartition, Long]): Map[LogPartition, Long] =
    fetch("records", properties.uncommittedToo, at.map { case (p, o) => p -> (o -> (o + 1)) }, tolerant = true)
      .transform((_, record) => record.millis)

  // A separate consumer is used, because a consumer that polls keeps fetching its assigned partitions.
  private def fetch(
      name: String,
      client: ClientProperties,
      ranges: Map[LogPartition, (Long, Long)],
      tolerant: Boolean
  ): Map[LogPartition, TimedOffset] =
    if (ranges.isEmpty) Map.empty
    else
      calls(name)(Using.resource(new KafkaConsumer[Array[Byte], Array[Byte]](client.driver(run).asJava)) {
        FirstRecords(_, ranges, timeout, tolerant)
      }).transform((_, record) => TimedOffset(record.offset, record.timestamp))

  override def committed(partitions: Set[LogPartition]): Map[LogPartition, Long] = calls("committed offsets") {
    assigned(partitions).committed(partitions.map(TopicPartitions.of).asJava).asScala.collect {
      case (p, stored) if Option(stored).nonEmpty => TopicPartitions.toLog(p) -> stored.offset
    }.toMap
  }

  override def close(): Unit = synchronized {
    closed = true
    // An interrupted thread must still close the clients. Errors of the clients are irrelevant after the end of the
    // source.
    try commits.foreach(_.close())
    finally {
      consumer.foreach(c => Try(c.close(Duration.ZERO)))
      admin.foreach(a => Try(a.close(Duration.ZERO)))
    }
  }

  private def offsets(requested: String, partitions: Set[LogPartition])(
      request: (Consumer[_, _], java.util.Collection[TopicPartition]) => Offsets
  ): Map[LogPartition, Long] =
    if (partitions.isEmpty) Map.empty
    else calls(requested)(toLog(request(assigned(partitions), partitions.map(TopicPartitions.of).asJava)))

  private def toLog(offsets: Offsets): Map[LogPartition, Long] =
    offsets.asScala.iterator.map { case (p, offset) => TopicPartitions.toLog(p) -> offset.longValue }.toMap

  // Partitions are assigned only because the consumer caches the metadata of assigned topics.
  private def assigned(partitions: Set[LogPartition]): Consumer[Array[Byte], Array[Byte]] = {
    val client = consumer.getOrElse {
      val created = new KafkaConsumer[Array[Byte], Array[Byte]](properties.driver(run).asJava)
      consumer = Some(created)
      created
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
      val created = Admin.create(properties.admin.asJava)
      admin = Some(created)
      created
    }
  }

  private def describeTopics(client: Admin): Seq[(String, Option[TopicDescription])] = {
    val names = settings.subscription match {
      case Subscription.Topics(topics)        => topics.toSeq
      case Subscription.Assigned(partitions)  => partitions.toSeq.map(_.topic).distinct
      case pattern: Subscription.TopicPattern =>
        client.listTopics().names().get().asScala.filter(pattern.matches).toSeq.sorted
    }
    client.describeTopics(names.asJava).topicNameValues().asScala.toSeq.sortBy(_._1).flatMap { case (name, response) =>
      permitted(name, response) match {
        case None  => if (isNamed) Some(name -> None) else None
        case topic => Some(name -> topic)
      }
    }
  }

  private def isNamed: Boolean = !settings.subscription.isInstanceOf[Subscription.TopicPattern]

  /** Returns the topic if the topic exists. A pattern does not match topics that the user must not describe, because
    * brokers do not list such topics.
    */
  private def permitted(name: String, response: KafkaFuture[TopicDescription]): Option[TopicDescription] =
    try described(name, response)
    catch { case _: TopicAuthorizationException if !isNamed => None }

  private def described(name: String, response: KafkaFuture[TopicDescription]): Option[TopicDescription] =
    try Some(response.get())
    catch {
      case e: ExecutionException if e.getCause.isInstanceOf[UnknownTopicOrPartitionException] => None
      // The error of the client does not name the topic.
      case e: ExecutionException if e.getCause.isInstanceOf[TopicAuthorizationException] =>
        throw new TopicAuthorizationException(java.util.Set.of(name))
    }
}

private[splice] object KafkaClusterClient {

  /** Converts the description of a broker to the state of a topic. */
  def state(topic: TopicDescription): DescribedTopic =
    DescribedTopic(Some(topic.topicId).filter(_ != Uuid.ZERO_UUID).map(_.toString), topic.partitions.size)

  private type Offsets = java.util.Map[TopicPartition, java.lang.Long]

  // Longer than leaders usually need for a response, including over new connections.
  private val Soon = Duration.ofSeconds(2)
}
