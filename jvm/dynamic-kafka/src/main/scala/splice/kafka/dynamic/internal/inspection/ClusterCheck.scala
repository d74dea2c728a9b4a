// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.inspection

import java.time.Duration
import java.util.concurrent.{Callable, Executors}

import scala.collection.immutable.{SortedMap, SortedSet}
import scala.jdk.CollectionConverters._
import scala.util.Using

import com.fasterxml.jackson.databind.JsonNode
import org.apache.kafka.clients.admin.Admin

import splice.kafka.dynamic.internal.settings.DynamicSettings
import splice.kafka.dynamic.{KafkaCluster, StreamMetadata}
import splice.kafka.internal.cluster.{KafkaCalls, KafkaClusterClient}
import splice.kafka.internal.errors.KafkaErrors
import splice.kafka.internal.options.KafkaSettings
import splice.source.errors.SpliceException
import splice.source.internal.DaemonThread
import splice.source.internal.entries.Json

/** State of a cluster, from requests that the source also sends.
  *
  * @param id
  *   the id of the cluster, if its brokers return an id
  * @param error
  *   the error if the cluster does not respond, or rejects the login
  * @param missing
  *   topics that do not exist
  * @param forbidden
  *   topics that the user must not describe or read, each with the missing permission
  * @param isActive
  *   false for an inactive cluster, which receives no request
  */
final private[dynamic] case class ClusterCheck(
    cluster: String,
    id: Option[String],
    error: Option[SpliceException],
    missing: SortedSet[String] = SortedSet.empty,
    forbidden: SortedMap[String, String] = SortedMap.empty,
    isActive: Boolean = true
) {

  def json: JsonNode = Json.obj(
    Seq(
      "cluster" -> Json.text(cluster),
      "active"  -> Json.bool(isActive),
      "missing" -> Json.array(missing.toSeq.map(Json.text)),
      "forbidden" -> Json.array(forbidden.toSeq.map { case (topic, right) =>
        Json.obj("topic" -> Json.text(topic), "permission" -> Json.text(right))
      })
    ) ++ id.map("id" -> Json.text(_)) ++ error.map(e => "error" -> Json.text(e.getMessage)): _*
  )
}

private[dynamic] object ClusterCheck {

  private val Threads = 8

  private val Describe = "DESCRIBE"
  private val Read     = "READ"

  /** Checks the clusters that host topics of a document, several clusters at the same time. */
  def all(settings: DynamicSettings, document: StreamMetadata): Seq[ClusterCheck] = {
    val topics = document.streams.values.toSeq.flatMap(_.topics.toSeq).groupMapReduce(_._1)(_._2)(_ ++ _)
    val checks = document.used.values.toSeq.map { cluster =>
      val check: Callable[ClusterCheck] = () =>
        if (cluster.active) of(settings, cluster, topics(cluster.name))
        else ClusterCheck(cluster.name, None, None, isActive = false)
      check
    }
    val threads = Executors.newFixedThreadPool(Threads, DaemonThread.named("splice-cluster-check"))
    try threads.invokeAll(checks.asJava).asScala.toSeq.map(_.get())
    finally { val _ = threads.shutdownNow() }
  }

  /** Checks one cluster and topics on it. */
  def of(settings: DynamicSettings, cluster: KafkaCluster, topics: SortedSet[String]): ClusterCheck =
    Using.resource(new KafkaClusterClient(settings.of(cluster, topics), Run)) { client =>
      described(client, cluster.name, topics)
    }

  private def described(client: KafkaClusterClient, name: String, topics: SortedSet[String]): ClusterCheck = {
    // A rejected request names only one topic. Further requests then find the state of each topic.
    val whole = attempt(client.describe())
    whole.left.toOption.filter(e => KafkaErrors.isUnreachable(e) || KafkaErrors.isOfLogin(e)) match {
      case Some(error) => ClusterCheck(name, None, Some(error))
      case None        =>
        val states = whole.fold(
          _ => topics.toSeq.map(topic => topic -> attempt(client.topicStates(Set(topic))())),
          found => topics.toSeq.map(topic => topic -> Right(if (found.missing(topic)) Map.empty else Map(topic -> ())))
        )
        val hidden   = states.collect { case (topic, Left(_)) => topic }
        val missing  = states.collect { case (topic, Right(found)) if found.isEmpty => topic }
        val existing = topics -- hidden -- missing
        ClusterCheck(
          name,
          whole.toOption.flatMap(_.clusterId),
          None,
          SortedSet.from(missing),
          SortedMap.from(hidden.map(_ -> Describe) ++ unreadable(client, existing).map(_ -> Read))
        )
    }
  }

  private def unreadable(client: KafkaClusterClient, topics: SortedSet[String]): Set[String] =
    if (attempt(client.checkReadable(topics)).isRight) Set.empty
    else topics.filter(topic => attempt(client.checkReadable(Set(topic))).isLeft)

  /** Returns the addresses that the brokers of a cluster advertise, as host and port.
    *
    * @throws splice.source.errors.SpliceException
    *   if the cluster does not respond, or rejects the login
    */
  def brokers(settings: KafkaSettings): Seq[(String, Int)] = {
    val client = settings.client
    val limit  = Duration.ofMillis(client.timeoutMillis.toLong)
    val calls  =
      new KafkaCalls(client.servers, limit, settings.retries, settings.retryInterval, client.secrets.hide)
    calls("brokers") {
      val admin = Admin.create(client.admin.asJava)
      try admin.describeCluster().nodes().get().asScala.toSeq.map(node => node.host -> node.port).sorted
      finally admin.close(Duration.ZERO)
    }
  }

  private def attempt[A](request: => A): Either[SpliceException, A] =
    try Right(request)
    catch { case e: SpliceException => Left(e) }

  private val Run = "inspection"
}
