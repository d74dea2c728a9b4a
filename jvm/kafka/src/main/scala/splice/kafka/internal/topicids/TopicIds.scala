// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.topicids

import java.util.concurrent.atomic.{AtomicBoolean, AtomicLong}
import java.util.concurrent.{CompletableFuture, Executors}
import java.util.{Map => JMap}

import scala.util.Try
import scala.util.control.NonFatal

import org.apache.kafka.clients.Metadata
import org.apache.kafka.clients.consumer.KafkaConsumer
import org.apache.kafka.common.serialization.ByteArrayDeserializer
import org.apache.kafka.common.{ClusterResource, ClusterResourceListener, TopicPartition, Uuid}
import org.slf4j.LoggerFactory

import splice.source.internal.DaemonThread

/** Checks that the records of a consumer belong to the planned topics. Used by one thread at a time, except `ends` and
  * `cancel`.
  *
  * A consumer fetches by topic id (KIP-516), and gets ids only from metadata responses. Ids that are verified after a
  * metadata response therefore remain valid until the next response. Most polls need only two comparisons.
  *
  * @param responses
  *   the number of metadata responses of the consumer
  * @param request
  *   requests the current ids of topics; its argument has the planned ids, and its result omits topics that do not
  *   exist
  */
final private[splice] class TopicIds(responses: () => Long, request: TopicIds.Request) {

  // The id of each topic that was read, and the last response for which the id was verified.
  private var known  = Map.empty[String, (String, Long)]
  private var agreed = Map.empty[String, String]
  private var at     = -1L

  // The topics that existed at a response.
  private var present   = Set.empty[String]
  private var presentAt = -1L

  /** The number of metadata responses of the consumer. */
  def response: Long = responses()

  /** True if the consumer has fetched no data of topics with the same names and other ids. */
  def allow(planned: Map[String, String]): Boolean =
    planned.forall { case (topic, id) => known.get(topic).forall(_._1 == id) }

  /** The topics that have another id than planned. Called after a poll, before its records are used.
    *
    * @param polled
    *   true for a topic if the poll returned data of the topic. If the ids of these topics are verified, no request is
    *   sent, so a deleted topic does not slow the reader down. A deleted topic has no new records, so the reader may
    *   use the records that were fetched before
    */
  def others(planned: Map[String, String], polled: String => Boolean): Set[String] = {
    val now = responses()
    if (planned.isEmpty || (now == at && (planned eq agreed))) Set.empty
    else {
      val doubtful = planned.filterNot { case (topic, id) => known.get(topic).contains(id -> now) }
      val current  = if (doubtful.keysIterator.exists(polled)) request(doubtful) else Map.empty[String, String]
      val same     = doubtful.filter { case (topic, id) => current.get(topic).contains(id) }
      known ++= same.map { case (topic, id) => topic -> (id -> now) }
      if (same.size == doubtful.size) {
        at = now
        agreed = planned
      }
      current.keySet -- same.keySet
    }
  }

  /** The topics that do not exist according to one broker, which may have outdated metadata. Topics that existed are
    * requested again only after the next metadata response, because a client repeatedly requests metadata while a topic
    * is missing. Returns None while a request is running; a later call returns its result.
    */
  def missing(planned: Map[String, String]): Option[Set[String]] = {
    val now = responses()
    if (now != presentAt) present = Set.empty
    presentAt = now
    if (planned.keySet.subsetOf(present)) Some(Set.empty)
    else {
      val response = request.missing(planned)
      response.foreach(absent => present ++= planned.keySet -- absent)
      response
    }
  }

  /** The ends of logs ([[TopicIds.Request.ends]]). */
  def ends(expected: Map[TopicPartition, Long]): Map[TopicPartition, Long] =
    if (expected.isEmpty) Map.empty else request.ends(expected)

  /** Cancels a request of another thread. */
  def cancel(): Unit = request.cancel()
}

private[splice] object TopicIds {

  /** Requests the ids of topics, and the ends of their partitions, from a cluster. */
  trait Request {

    /** The ids of the planned topics that exist. A response with another id is suspicious, and the request is sent
      * again.
      */
    def apply(planned: Map[String, String]): Map[String, String]

    /** The planned topics that do not exist; empty if the cluster does not respond soon. Returns None while a request
      * is running; a later call returns its result.
      */
    def missing(planned: Map[String, String]): Option[Set[String]] = Some(planned.keySet -- apply(planned).keySet)

    /** The offset after the last record of partitions, including records of open transactions. The result omits
      * partitions that do not respond. An end before the expected end is suspicious, and the request is sent again.
      */
    def ends(expected: Map[TopicPartition, Long]): Map[TopicPartition, Long] = Map.empty

    /** Cancels the running request of another thread and all later requests. Cancelled requests fail with an
      * InterruptedException.
      */
    def cancel(): Unit = ()
  }

  /** Takes ids from the consumer that reads. Requests only ids that the consumer lacks, or that differ from the plan.
    *
    * @param fetched
    *   the ids that the consumer sends with its fetch requests. A broker rejects a fetch of another topic (KIP-516), so
    *   the returned records belong to these ids
    */
  def ofConsumer(fetched: () => JMap[String, Uuid], request: Request): Request = new Request {
    override def apply(planned: Map[String, String]): Map[String, String] = {
      val ids              = fetched()
      val (same, doubtful) = planned.partition { case (topic, id) => Option(ids.get(topic)).exists(_.toString == id) }
      if (doubtful.isEmpty) same else same ++ request(doubtful)
    }

    override def missing(planned: Map[String, String]): Option[Set[String]] = request.missing(planned)

    override def ends(expected: Map[TopicPartition, Long]): Map[TopicPartition, Long] = request.ends(expected)

    override def cancel(): Unit = request.cancel()
  }

  /** Accepts every id. Used if no cluster is available for requests. */
  def unchecked: TopicIds = new TopicIds(() => 0L, identity(_))
}

/** A deserializer that returns keys and values unchanged, and counts the metadata responses of its consumer.
  *
  * Kafka calls listeners once after each metadata response. Deserializers of a consumer may be listeners.
  */
final private[splice] class MetadataWatch extends ByteArrayDeserializer with ClusterResourceListener {

  private val responses = new AtomicLong

  override def onUpdate(cluster: ClusterResource): Unit = { val _ = responses.incrementAndGet() }

  /** The number of metadata responses. */
  def count: Long = responses.get
}

private[splice] object MetadataWatch {
  private val logger = LoggerFactory.getLogger(classOf[MetadataWatch])

  private val warned = new AtomicBoolean

  /** The ids of topics in the metadata of a consumer, from which the consumer builds its fetch requests.
    *
    * Returns None if this version of the client stores the ids elsewhere. The reason is logged once per JVM.
    */
  def topicIds(consumer: KafkaConsumer[_, _]): Option[() => JMap[String, Uuid]] =
    try
      ClientFields.value(consumer, Seq("delegate", "metadata")) match {
        case metadata: Metadata => Some(() => metadata.topicIds())
        case other              => throw new ClassCastException(other.getClass.getName)
      }
    catch {
      case e @ (_: LinkageError | NonFatal(_)) =>
        if (!warned.getAndSet(true))
          logger.warn(
            s"Readers request topic ids from brokers, because this version of Kafka's client does not expose topic ids: $e"
          )
        None
    }
}

/** Requests missing topics on another thread. A cluster that does not respond therefore does not delay records of other
  * clusters.
  */
final private[splice] class BackgroundRequest(request: TopicIds.Request) extends TopicIds.Request {

  private var requested = Option.empty[(Map[String, String], CompletableFuture[Set[String]])]

  override def apply(planned: Map[String, String]): Map[String, String] = request(planned)

  override def missing(planned: Map[String, String]): Option[Set[String]] = requested match {
    case Some((_, response)) if !response.isDone => None
    case Some((`planned`, response))             =>
      requested = None
      Some(Try(response.join()).getOrElse(Set.empty))
    case _ =>
      def response() = request.missing(planned).getOrElse(Set.empty)
      requested = Some(planned -> BackgroundRequest.start(response()))
      None
  }

  override def ends(expected: Map[TopicPartition, Long]): Map[TopicPartition, Long] = request.ends(expected)

  override def cancel(): Unit = request.cancel()
}

private[internal] object BackgroundRequest {

  private lazy val threads = Executors.newCachedThreadPool(DaemonThread.named("splice-kafka-request"))

  /** Sends a request on another thread. */
  def start[A](request: => A): CompletableFuture[A] = CompletableFuture.supplyAsync(() => request, threads)
}
