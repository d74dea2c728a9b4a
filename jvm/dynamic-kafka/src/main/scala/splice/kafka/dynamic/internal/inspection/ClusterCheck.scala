// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.inspection

import java.time.Duration
import java.util.concurrent.{Callable, Executors}

import scala.collection.immutable.{SortedMap, SortedSet}
import scala.jdk.CollectionConverters._
import scala.util.{Try, Using}

import com.fasterxml.jackson.databind.JsonNode
import org.apache.kafka.clients.CommonClientConfigs
import org.apache.kafka.clients.admin.Admin
import org.apache.kafka.common.errors.TopicAuthorizationException
import org.apache.kafka.common.{Cluster, KafkaException, Node}

import splice.kafka.dynamic.internal.settings.DynamicSettings
import splice.kafka.dynamic.{KafkaCluster, StreamMetadata}
import splice.kafka.internal.cluster.{KafkaCalls, KafkaClusterClient}
import splice.kafka.internal.errors.KafkaErrors
import splice.kafka.internal.options.KafkaSettings
import splice.kafka.internal.secrets.ClientSecrets
import splice.kafka.internal.topicids.ClientFields
import splice.source.errors.{SpliceException, SpliceOptionException}
import splice.source.internal.DaemonThread
import splice.source.internal.entries.Json

/** State of a cluster, from requests that the source also sends.
  *
  * @param id
  *   the id of the cluster, if its brokers return an id
  * @param error
  *   the error if the cluster does not respond, rejects the login, or has invalid client properties
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
    error: Option[String],
    missing: SortedSet[String] = SortedSet.empty,
    forbidden: SortedMap[String, String] = SortedMap.empty,
    isActive: Boolean = true
) {

  def json: JsonNode = Json.obj(
    Seq(
      "cluster"   -> Json.text(cluster),
      "active"    -> Json.bool(isActive),
      "missing"   -> Json.array(missing.toSeq.map(Json.text)),
      "forbidden" -> Json.array(forbidden.toSeq.map { case (topic, right) =>
        Json.obj("topic" -> Json.text(topic), "permission" -> Json.text(right))
      })
    ) ++ id.map("id" -> Json.text(_)) ++ error.map("error" -> Json.text(_)): _*
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
    try Using.resource(new KafkaClusterClient(settings.of(cluster, topics), Run))(described(_, cluster.name, topics))
    catch { case e: SpliceOptionException => ClusterCheck(cluster.name, None, Some(e.getMessage)) }

  private def described(client: KafkaClusterClient, name: String, topics: SortedSet[String]): ClusterCheck =
    attempt(client.describe()) match {
      case Right(found) => checked(client, name, found.clusterId, topics, found.missing, Nil)
      // The error names only one topic. Further requests find the state of each topic.
      case Left(error) if isDenied(error) =>
        val states  = topics.toSeq.map(topic => topic -> attempt(client.topicStates(Set(topic))()))
        val hidden  = states.collect { case (topic, Left(_)) => topic }
        val missing = states.collect { case (topic, Right(found)) if found.isEmpty => topic }
        checked(client, name, None, topics, SortedSet.from(missing), hidden)
      case Left(error) => ClusterCheck(name, None, Some(error.getMessage))
    }

  private def checked(
      client: KafkaClusterClient,
      name: String,
      id: Option[String],
      topics: SortedSet[String],
      missing: SortedSet[String],
      hidden: Seq[String]
  ): ClusterCheck = {
    def check(error: Option[String], unreadable: Set[String]) =
      ClusterCheck(name, id, error, missing, SortedMap.from(hidden.map(_ -> Describe) ++ unreadable.map(_ -> Read)))
    val readable = topics -- hidden -- missing
    attempt(client.checkReadable(readable)) match {
      case Right(_)                       => check(None, Set.empty)
      case Left(error) if isDenied(error) =>
        check(None, readable.filter(topic => attempt(client.checkReadable(Set(topic))).left.toOption.exists(isDenied)))
      case Left(error) => check(Some(error.getMessage), Set.empty)
    }
  }

  private def isDenied(error: SpliceException): Boolean =
    ClientSecrets.chain(error).exists(_.isInstanceOf[TopicAuthorizationException])

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
    // A client that asks the bootstrap servers again forgets the brokers that they have returned.
    val once  = client.admin + (CommonClientConfigs.METADATA_RECOVERY_STRATEGY_CONFIG -> "none")
    val admin =
      try Admin.create(once.asJava)
      catch { case e: KafkaException => throw client.rejected("brokers", e) }
    try calls("brokers")(admin.describeCluster().nodes().get().asScala.toSeq).map(address).sorted
    catch {
      case e: SpliceException if KafkaErrors.isUnreachable(e) =>
        val known = returned(admin)
        if (known.isEmpty) throw e else known.map(address).sorted
    } finally admin.close(Duration.ZERO)
  }

  /** Returns the brokers that a bootstrap server has returned to a client. The client sends its requests to the addresses
    * of these brokers, so no request succeeds if these addresses are wrong.
    */
  private def returned(admin: Admin): Seq[Node] =
    Try(ClientFields.value(admin, Seq("metadataManager", "cluster"))).toOption.toSeq.collect {
      // The client assigns negative ids to bootstrap servers.
      case cluster: Cluster => cluster.nodes.asScala.toSeq.filter(_.id >= 0)
    }.flatten

  private def address(node: Node): (String, Int) = node.host -> node.port

  private def attempt[A](request: => A): Either[SpliceException, A] =
    try Right(request)
    catch { case e: SpliceException => Left(e) }

  private val Run = "inspection"
}
