// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.topicids

import java.lang.reflect.Field
import java.time.Duration
import java.util.concurrent.{CancellationException, ExecutionException, TimeUnit, TimeoutException => WaitTimeout}

import scala.jdk.CollectionConverters._
import scala.util.Try

import org.apache.kafka.clients.admin.{Admin, DescribeTopicsOptions, ListOffsetsOptions, OffsetSpec, TopicDescription}
import org.apache.kafka.common.errors.{RetriableException, TimeoutException, UnknownTopicOrPartitionException}
import org.apache.kafka.common.{KafkaException, KafkaFuture, TopicPartition, Uuid}

import splice.kafka.internal.cluster.Recheck
import splice.kafka.internal.errors.KafkaErrors
import splice.kafka.internal.options.ClientProperties
import splice.source.errors.SpliceException

/** Requests the ids of topics and the ends of logs from a cluster. Requests are rare, so each request creates a client.
  * An idle client would continuously reconnect to its brokers.
  *
  * @param patience
  *   the timeout of one request; the same as the timeout of a poll, because the reader waits for the request and the
  *   poll
  * @param recheck
  *   repeats requests whose response is suspicious
  */
final private[splice] class TopicIdClient(client: ClientProperties, patience: Duration, recheck: Recheck)
    extends TopicIds.Request {

  private var running: Seq[KafkaFuture[_]] = Nil
  private var cancelled                    = false

  override def apply(planned: Map[String, String]): Map[String, String] = using { admin =>
    recheck.confirm(once(admin, planned, patience))(_.exists { case (topic, id) => planned(topic) != id }) { () =>
      once(admin, planned, patience)
    }
  }

  // Each call creates a client, so that another broker may respond.
  override def missing(planned: Map[String, String]): Option[Set[String]] =
    try Some(planned.keySet -- using(once(_, planned, Seq(patience, TopicIdClient.Soon).min)).keySet)
    catch { case _: SpliceException => Some(Set.empty) }

  // Each call creates a client, so that another broker may respond. The default isolation level of an admin client is
  // read_uncommitted.
  override def ends(expected: Map[TopicPartition, Long]): Map[TopicPartition, Long] = {
    def request() = using(endsOf(_, expected.keySet))
    recheck.confirm(request())(_.exists { case (p, end) => end < expected(p) })(request _)
  }

  private def endsOf(admin: Admin, partitions: Set[TopicPartition]): Map[TopicPartition, Long] = {
    val end       = System.nanoTime() + patience.toNanos
    val requested = begin {
      val specs  = partitions.iterator.map(_ -> OffsetSpec.latest()).toMap.asJava
      val result = admin.listOffsets(specs, new ListOffsetsOptions().timeoutMs(millis(patience)))
      partitions.iterator.map(p => p -> result.partitionResult(p)).toMap
    }
    requested.flatMap { case (p, response) =>
      try Some(p -> await(response, end).offset)
      catch {
        case _: WaitTimeout                                                       => None
        case e: ExecutionException if e.getCause.isInstanceOf[RetriableException] => None
        case e: ExecutionException => throw client.rejected(TopicIdClient.EndsName, e.getCause)
      }
    }
  }

  private def using[A](request: Admin => A): A = {
    val admin = open()
    try request(admin)
    finally { val _ = Try(admin.close(Duration.ZERO)) }
  }

  override def cancel(): Unit = synchronized {
    cancelled = true
    running.foreach(_.cancel(true))
  }

  private def open(): Admin =
    try Admin.create(client.admin.asJava)
    catch { case e: KafkaException => throw client.rejected(TopicIdClient.RequestName, e) }

  private def once(admin: Admin, planned: Map[String, String], within: Duration): Map[String, String] = {
    val end       = System.nanoTime() + within.toNanos
    val options   = new DescribeTopicsOptions().timeoutMs(millis(within))
    val responses = begin(admin.describeTopics(planned.keySet.asJava, options).topicNameValues().asScala.toMap)
    planned.flatMap { case (topic, id) => response(responses(topic), end).map(now => topic -> now.getOrElse(id)) }
  }

  private def begin[K, A](request: => Map[K, KafkaFuture[A]]): Map[K, KafkaFuture[A]] = synchronized {
    if (cancelled) throw closed
    val requested = request
    running = requested.values.toSeq
    requested
  }

  private def millis(within: Duration): Int = math.min(within.toMillis, Int.MaxValue.toLong).toInt

  /** Waits for a response.
    *
    * @param end
    *   the end of the wait (System.nanoTime). The client first describes the cluster, and ignores its timeout for this
    *   request
    */
  private def await[A](requested: KafkaFuture[A], end: Long): A =
    try requested.get(math.max(end - System.nanoTime(), 0L), TimeUnit.NANOSECONDS)
    catch { case _: CancellationException => throw closed }

  /** Returns the id of a topic, or None if the topic does not exist. The inner value is None if the broker returned no
    * id.
    */
  private def response(requested: KafkaFuture[TopicDescription], end: Long): Option[Option[String]] =
    try {
      val id = await(requested, end).topicId
      Some(if (id == Uuid.ZERO_UUID) None else Some(id.toString))
    } catch {
      case _: WaitTimeout        => throw unreachable(new TimeoutException("no response in time"))
      case e: ExecutionException =>
        e.getCause match {
          case _: UnknownTopicOrPartitionException => None
          case cause: TimeoutException             => throw unreachable(cause)
          case cause                               => throw client.rejected(TopicIdClient.RequestName, cause)
        }
    }

  private def unreachable(cause: TimeoutException) =
    KafkaErrors.unreachable(client.servers, TopicIdClient.RequestName, patience, client.secrets.hide(cause))

  private def closed = new InterruptedException("the reader was closed during a read")
}

private object TopicIdClient {
  private val RequestName = "topic ids"
  private val EndsName    = "the ends of logs"

  // A reader that requests missing topics cannot poll during this time.
  private val Soon = Duration.ofSeconds(5)
}

/** Private fields of Kafka's client. Another version of the client may not have these fields. */
private[splice] object ClientFields {

  /** A field of an object's class.
    *
    * @throws java.lang.NoSuchFieldException
    *   if the class does not declare the field
    */
  def field(of: Object, name: String): Field = {
    val declared = of.getClass.getDeclaredField(name)
    declared.setAccessible(true)
    declared
  }

  /** The value at the end of a path of fields. */
  def value(of: Object, path: Seq[String]): Object =
    path.foldLeft(of)((inner, name) => field(inner, name).get(inner))
}
