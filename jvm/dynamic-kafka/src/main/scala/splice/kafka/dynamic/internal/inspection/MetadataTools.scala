// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.inspection

import java.time.Clock
import java.util.{Map => JMap}

import scala.collection.immutable.{SortedMap, SortedSet}
import scala.jdk.CollectionConverters._
import scala.util.Using

import com.fasterxml.jackson.databind.JsonNode
import org.apache.kafka.clients.CommonClientConfigs

import splice.kafka.dynamic.internal.change.ChangeRules
import splice.kafka.dynamic.internal.errors.{DynamicErrors, MetadataErrors}
import splice.kafka.dynamic.internal.options.StreamSelection
import splice.kafka.dynamic.internal.settings.DynamicSettings
import splice.kafka.dynamic.internal.split.{ClusterTopic, DynamicPosition}
import splice.kafka.dynamic.internal.state.{AppliedMetadata, ChangeEntries}
import splice.kafka.dynamic.{DynamicKafkaSource, DynamicKafkaSourceProvider, KafkaCluster, StreamMetadata}
import splice.kafka.internal.cluster.KafkaClusterClient
import splice.source.errors.{SpliceError, SpliceException}
import splice.source.internal.entries.Json
import splice.source.internal.{HadoopConfiguration, SteadyClock}
import splice.source.options.SourceOptions
import splice.source.runtime.SideLog
import splice.source.{EnumeratorContext, ReadMode, StoredStart}

/** Commands of the Python package about stream metadata. The Python package calls the methods through py4j. Arguments
  * and results are texts, and results are JSON objects. No method writes to a checkpoint or to a cluster.
  */
private[splice] object MetadataTools {

  private val Run = "inspection"

  /** Returns true if a side log belongs to a source of many clusters. */
  def isDynamic(log: SideLog): Boolean = log.keys("change-").nonEmpty

  /** Checks a document by the rules of a source with these options.
    *
    * @param reach
    *   true if the clusters of the document receive requests about their topics
    */
  def check(options: JMap[String, String], reach: Boolean): String = {
    val settings = this.settings(options)
    document(settings) match {
      case Left(error) => Json.write(Json.obj("error" -> Json.text(error.getMessage)))
      case Right(is)   => Json.write(Json.obj(described(settings, is) ++ reached(settings, is, reach): _*))
    }
  }

  /** Compares a document with a checkpoint.
    *
    * @param log
    *   the side log of the source
    * @param committed
    *   the last committed offset of the source
    * @param start
    *   the offset at which the query started; "" if it is not stored
    */
  def diff(options: JMap[String, String], log: SideLog, committed: String, start: String): String = {
    val settings = this.settings(options)
    document(settings) match {
      case Left(error) => Json.write(Json.obj("error" -> Json.text(error.getMessage)))
      case Right(is)   =>
        val clock  = Clock.systemUTC()
        val stored = Option.when(start.nonEmpty)(StoredStart(start))
        val source = new DynamicKafkaSource(settings)
        val trial  = MetadataTrial.of(log, DynamicPosition.read(committed)) { trial =>
          source.enumerator(EnumeratorContext(
            trial,
            ReadMode.Stream,
            clock,
            cores = 1,
            Run,
            start = stored,
            durations = Some(new SteadyClock(clock))
          ))
        }
        Json.write(Json.obj(described(settings, is) ++ trial.json ++ reached(settings, is, reach = true): _*))
    }
  }

  /** Returns the topics of a cluster that a checkpoint still needs.
    *
    * @param committed
    *   the last committed offset of the source; "" if no batch is committed
    */
  def drained(options: JMap[String, String], log: SideLog, committed: String, cluster: String): String = {
    val settings = this.settings(options)
    val view     = new TrialSideLog(log)
    val changes  = new ChangeEntries(view)
    val position = changes.last.filter(_ => committed.nonEmpty)
      .flatMap(MetadataTrial.position(view, DynamicPosition.read(committed), _))
    val found = DrainedCluster.of(changes, position, cluster)(unread(settings))
    val names = changes.last.toSeq.flatMap(_.clusters.keys)
    Json.write(found.fold[JsonNode](Json.obj("clusters" -> Json.array(names.map(Json.text))))(_.json))
  }

  /** Checks one cluster: the advertised addresses of its brokers, and the permissions on a topic.
    *
    * @param topic
    *   name of a topic; "" for none
    */
  def cluster(options: JMap[String, String], topic: String): String = {
    val settings = this.settings(options)
    val servers  = settings.options.get(s"kafka.${CommonClientConfigs.BOOTSTRAP_SERVERS_CONFIG}").getOrElse("")
    val cluster  = KafkaCluster("kafka", SortedMap(CommonClientConfigs.BOOTSTRAP_SERVERS_CONFIG -> servers))
    try {
      val brokers = ClusterCheck.brokers(settings.of(cluster, SortedSet(if (topic.isEmpty) "any" else topic)))
      val state   = Option.when(topic.nonEmpty)(ClusterCheck.of(settings, cluster, SortedSet(topic)))
      Json.write(Json.obj(
        Seq("brokers" -> Json.array(brokers.map { case (host, port) =>
          Json.obj("host" -> Json.text(host), "port" -> Json.number(port.toLong))
        })) ++ state.map("topic" -> _.json): _*
      ))
    } catch {
      case e: SpliceException =>
        Json.write(Json.obj("error" -> Json.text(e.getMessage), "condition" -> Json.text(e.getCondition)))
    }
  }

  private def settings(options: JMap[String, String]): DynamicSettings = {
    val read = SourceOptions(options.asScala.toMap)
    new DynamicKafkaSourceProvider().options.rejectUnknown(read)
    DynamicSettings(read)
  }

  private def document(settings: DynamicSettings): Either[SpliceException, StreamMetadata] = {
    val service = settings.service(HadoopConfiguration.active)
    try Right(settings.selection.of(service))
    catch { case MetadataErrors.InvalidMetadata(error) => Left(error) }
    finally service.close()
  }

  private def described(settings: DynamicSettings, document: StreamMetadata): Seq[(String, JsonNode)] = {
    val used  = document.used.keySet
    val names = settings.selection match {
      case StreamSelection.Names(wanted) => (wanted -- document.streams.keySet).toSeq
      case _                             => Nil
    }
    val rules    = new ChangeRules(settings.removal)
    val rejected = rules.rejection(AppliedMetadata.Nothing, document)
      .orElse(rules.cutovers.policy(document))
    val problems = Option.when(names.nonEmpty)(DynamicErrors.noStreams(names)).toSeq ++
      rejected.map(DynamicErrors.rejected)
    Seq(
      "clusters" -> Json.array(document.clusters.values.toSeq.map { cluster =>
        Json.obj(
          "name"   -> Json.text(cluster.name),
          "active" -> Json.bool(cluster.active),
          "used"   -> Json.bool(used(cluster.name))
        )
      }),
      "streams" -> Json.array(document.streams.values.toSeq.map { stream =>
        Json.obj(
          "name"   -> Json.text(stream.name),
          "topics" ->
            Json.array(AppliedMetadata.streamOf(Seq(stream)).keys.toSeq.map(topic => Json.text(topic.toString)))
        )
      }),
      "problems" -> Json.array(problems.map(error => Json.text(error.getMessage)))
    ) ++ document.generation.map("generation" -> Json.number(_))
  }

  private def reached(settings: DynamicSettings, document: StreamMetadata, reach: Boolean): Option[(String, JsonNode)] =
    Option.when(reach)("reached" -> Json.array(ClusterCheck.all(settings, document).map(_.json)))

  private def unread(
      settings: DynamicSettings
  )(state: AppliedMetadata, topic: ClusterTopic, at: DynamicPosition): MetadataTrial.Drain =
    try {
      val cluster        = state.clusters(topic.cluster)
      val left           = at.of(topic.cluster)
      val (starts, ends) =
        Using.resource(new KafkaClusterClient(settings.of(cluster, SortedSet(topic.topic)), Run)) { client =>
          val partitions = client.describe().partitions.toSet
          (client.earliest(partitions.filter(left.get(_).isEmpty)), client.ends(partitions))
        }
      // A partition without a position begins at its first record.
      val unread = ends.map { case (p, end) => math.max(end - left.get(p).orElse(starts.get(p)).getOrElse(0L), 0L) }
      MetadataTrial.Drain(Some(unread.sum))
    } catch { case e: SpliceException => MetadataTrial.Drain(None, Some(SpliceError.text(e))) }
}
