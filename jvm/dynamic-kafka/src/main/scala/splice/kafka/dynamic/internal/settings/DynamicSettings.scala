// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.settings

import java.time.Duration

import scala.collection.immutable.SortedSet

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.kafka.clients.consumer.ConsumerConfig

import splice.kafka.Place
import splice.kafka.dynamic.internal.change.{CutoverOrder, RemovalRules}
import splice.kafka.dynamic.internal.document.DocumentProperties
import splice.kafka.dynamic.internal.metadata._
import splice.kafka.dynamic.internal.options._
import splice.kafka.dynamic.internal.split.ClusterTopic
import splice.kafka.dynamic.internal.state.AppliedMetadata
import splice.kafka.dynamic.{KafkaCluster, KafkaMetadataService}
import splice.kafka.internal.options._
import splice.source.Limits
import splice.source.errors.OptionErrors
import splice.source.options.SourceOptions.fold
import splice.source.options.{SourceOption, SourceOptions}

/** Options of the Kafka source of many clusters, parsed and checked.
  *
  * @param options
  *   all options; the options of each cluster are derived from these options
  * @param base
  *   settings for every cluster, as for a source of one cluster
  * @param metadataPatience
  *   maximum time without a response of the metadata service
  */
final private[splice] case class DynamicSettings(
    options: SourceOptions,
    selection: StreamSelection,
    metadata: MetadataKind,
    base: KafkaSettings,
    removal: RemovalRules,
    metadataPatience: Duration,
    clusterWait: Duration,
    clusterTimeout: Duration,
    failWhenUnavailable: Boolean,
    cutover: CutoverOrder,
    clusters: ClusterOptions
) {

  /** Returns the settings for the topics of one cluster. The credentials of the cluster override the properties of the
    * query, the properties of the metadata override both, and the property `client.rack` overrides `rackFrom`. The
    * options `cluster.<name>.` override all of these.
    *
    * @throws splice.source.errors.SpliceOptionException
    *   if the options do not define the credentials
    */
  def of(cluster: KafkaCluster, topics: SortedSet[String]): KafkaSettings = {
    val properties = DynamicSettings.merged(
      cluster.credentials.toSeq.flatMap(Credentials.of(options, _)),
      cluster.properties.map { case (name, value) => s"${KafkaOptions.ClientPrefix}$name" -> value }
    ).map { case (key, value) =>
      s"${KafkaOptions.ClientPrefix}${ClientProperties.canonical(key.drop(KafkaOptions.ClientPrefix.length))}" -> value
    }
    val special = scoped(cluster).toMap
    val read    = Map(KafkaOptions.Subscribe.key -> topics.mkString(","))
    val own     = scoped(cluster).find(PolicyOptions.Rack)
    val every   = DynamicSettings.ofOne(options)
    // At most one setting defines the rack of an executor.
    val (common, documented) = own match {
      case Some(from) if from != RackFrom.Nowhere            => (every, properties - DynamicSettings.Rack)
      case None if properties.contains(DynamicSettings.Rack) => (DynamicSettings.withoutRack(every), properties)
      case _                                                 => (every, properties)
    }
    val all     = DynamicSettings.merged(common, documented, special, read)
    val created = KafkaSettings(SourceOptions(all))
    // The dynamic source, and not the enumerator of a cluster, decides how long to wait for a cluster.
    val policies = created.policies.copy(
      patience = Duration.ZERO,
      discoveryPatience = Some(clusterTimeout),
      partitionsFail = false
    )
    created.copy(policies = policies, prefix = options.name(""), hasGenerations = true)
  }

  private def scoped(cluster: KafkaCluster) = options.scope(s"${DynamicOptions.ClusterPrefix}${cluster.name}")

  /** Returns the limits of a batch for one cluster, in addition to those for all clusters. An option takes precedence
    * over the metadata.
    */
  def limits(cluster: KafkaCluster): Limits.Limited = Limits.Limited(
    rows = find(cluster, KafkaOptions.MaxOffsets).orElse(cluster.maxOffsetsPerTrigger),
    bytes = find(cluster, AdmissionOptions.MaxBytes).orElse(cluster.maxBytesPerTrigger)
  )

  // A scope would copy all options of the cluster at each trigger.
  private def find[A](cluster: KafkaCluster, option: SourceOption[A]): Option[A] =
    options.find(option.copy(key = s"${DynamicOptions.ClusterPrefix}${cluster.name}.${option.key}"))

  /** Returns how long a start waits for the metadata service. */
  def metadataWaits: MetadataDiscovery.Waits = {
    val timeout = options(DynamicOptions.MetadataTimeout)
    MetadataDiscovery.Waits(start = Seq(clusterTimeout, timeout).max, restart = timeout)
  }

  /** Returns the starts of topics of a cluster at the first start of the query. The options of a stream take precedence
    * over the metadata.
    */
  def starts(cluster: String, applied: AppliedMetadata): Map[String, Place] = for {
    (topic, stream) <- applied.streamOf if topic.cluster == cluster
    start           <- optionOf(stream, topic).orElse(documented(applied, topic))
  } yield topic.topic -> start

  /** Returns the start of a topic that the metadata adds later. Options of streams apply only to the first start; a
    * stream with such options ignores the start of the metadata.
    */
  def addedStart(applied: AppliedMetadata, topic: ClusterTopic): Option[Place] =
    documented(applied, topic).filter(_ => applied.stream(topic).flatMap(optionOf(_, topic)).isEmpty)

  private def optionOf(stream: String, topic: ClusterTopic) =
    StreamStarts.of(options, stream, base.client, topic.topic)

  private def documented(applied: AppliedMetadata, topic: ClusterTopic): Option[Place] =
    applied.startOf(topic).flatMap(StreamStarts.of(_, topic))

  /** Creates the metadata service. Sends no request. */
  def service(hadoop: Configuration): KafkaMetadataService = {
    val rules = new DocumentProperties(options(DynamicOptions.MetadataProperties), options)
    // Code of the job has the rights of the job.
    val ofCode = new DocumentProperties(any = true, options)
    clusters.watch(metadata match {
      case MetadataKind.File =>
        DocumentService.file(new Path(options(DynamicOptions.MetadataFile)), hadoop, rules)
      case MetadataKind.Http          => HttpMetadataService(options, rules)
      case MetadataKind.Python        => DocumentService.callback(options(DynamicOptions.MetadataPython), rules)
      case MetadataKind.SingleCluster =>
        new SingleClusterMetadataService(options(DynamicOptions.ClusterName), ClientProperties.of(options))
      case MetadataKind.Class =>
        val name = s"the metadata service of class ${options(DynamicOptions.MetadataClass)}"
        new CheckedMetadataService(name, ofCode, closes = true)(UserMetadataServices.ofClass(options))
      case MetadataKind.Instance =>
        val name = options(DynamicOptions.MetadataInstance)
        new CheckedMetadataService(s"the metadata service $name", ofCode, closes = false)(() =>
          UserMetadataServices.registered(name)
        )
    })
  }
}

private[splice] object DynamicSettings {

  /** Parses and checks the options.
    *
    * @throws splice.source.errors.SpliceOptionException
    *   if options are missing, conflict, or have invalid values
    */
  def apply(options: SourceOptions): DynamicSettings = {
    val metadata = this.metadata(options)
    val streams  = selection(options)
    if (metadata == MetadataKind.Class) { val _ = UserMetadataServices.ofClass(options) }
    // The check uses a cluster that receives no request, because Splice has not received the clusters yet.
    val somewhere = Map(KafkaOptions.Servers.key -> "unknown:9092", KafkaOptions.SubscribePattern.key -> ".*")
    val base      = KafkaSettings(SourceOptions(merged(ofEvery(options), somewhere)))
    StreamStarts.check(options, streams, base.client)
    Credentials.check(options)
    DynamicSettings(
      options,
      streams,
      metadata,
      base,
      RemovalRules(
        options(DynamicOptions.OnRemovedOption),
        options(DynamicOptions.DrainTimeout),
        options(PolicyOptions.RemovedRetention),
        options(DynamicOptions.MaxRemovalFraction)
      ),
      options(DynamicOptions.MetadataFailureTimeout),
      options(DynamicOptions.ClusterWait),
      options(PolicyOptions.ClusterTimeout),
      options(DynamicOptions.OnClusterUnavailable),
      options(DynamicOptions.CutoverOption),
      ClusterOptions(options, base.ending.isDefined) { scoped =>
        val _ = KafkaSettings(SourceOptions(merged(ofOne(options), somewhere, scoped.toMap)))
      }
    )
  }

  private def selection(options: SourceOptions): StreamSelection = {
    val (names, pattern) = (options.find(DynamicOptions.Streams), options.find(DynamicOptions.StreamPattern))
    def named            = Seq(DynamicOptions.Streams, DynamicOptions.StreamPattern).map(o => options.name(o.key))
    (names, pattern) match {
      case (Some(streams), None) => StreamSelection.Names(streams)
      case (None, Some(text))    => StreamSelection.Matching(text)
      case (None, None)          =>
        throw OptionErrors.missing(
          named.mkString("' or '"),
          "Streams to read. Exactly one of these options must be set."
        )
      case _ =>
        throw OptionErrors.conflict(named, "exactly one of these options must be set; remove the other options")
    }
  }

  private def metadata(options: SourceOptions): MetadataKind = {
    val needs: Map[MetadataKind, SourceOption[_]] = Map(
      MetadataKind.File          -> DynamicOptions.MetadataFile,
      MetadataKind.Http          -> DynamicOptions.MetadataUrl,
      MetadataKind.SingleCluster -> KafkaOptions.Servers,
      MetadataKind.Python        -> DynamicOptions.MetadataPython,
      MetadataKind.Class         -> DynamicOptions.MetadataClass,
      MetadataKind.Instance      -> DynamicOptions.MetadataInstance
    )
    val set    = MetadataKind.all.filter(kind => options.contains(needs(kind).key))
    val chosen = options.find(DynamicOptions.Metadata).orElse(Option.when(set.sizeIs == 1)(set).map(_.head)).getOrElse {
      throw OptionErrors.missing(options.name(DynamicOptions.Metadata.key), DynamicOptions.Metadata.doc)
    }
    if (!set.contains(chosen)) throw OptionErrors.missing(options.name(needs(chosen).key), needs(chosen).doc)
    if (chosen == MetadataKind.Http) HttpOptions.check(options)
    if (chosen == MetadataKind.SingleCluster) { val _ = options(DynamicOptions.ClusterName) }
    chosen
  }

  /** Returns the options that a source of one cluster also has, without the options that select the cluster. */
  private def ofEvery(options: SourceOptions): Map[String, String] = {
    val keys = (DynamicOptions.specific.filterNot(KafkaOptions.set.options.contains(_)) :+ KafkaOptions.Servers)
      .map(o => fold(o.key)).toSet
    options.toMap.filterNot { case (key, _) =>
      keys(fold(key)) || fold(key).startsWith(DynamicOptions.MetadataHeader) ||
      fold(key).startsWith(DynamicOptions.ClassPrefix) ||
      ClusterOptions.isOne(key) || StreamStarts.isOne(key) || Credentials.isOne(key)
    }
  }

  // Shares and limits of a batch apply to all clusters together. Shares may name topics that one cluster does not have.
  private def ofOne(options: SourceOptions): Map[String, String] = {
    val shared = (AdmissionOptions.all ++ Seq(KafkaOptions.MaxOffsets, KafkaOptions.MinOffsets)).map(o => fold(o.key))
    ofEvery(options).filterNot { case (key, _) => shared.contains(fold(key)) }
  }

  private val Rack = s"${KafkaOptions.ClientPrefix}${ConsumerConfig.CLIENT_RACK_CONFIG}"

  private def withoutRack(options: Map[String, String]): Map[String, String] =
    options.filterNot { case (key, _) => fold(key) == fold(PolicyOptions.Rack.key) }

  /** Merges options. Later options override earlier options; the case of keys is ignored. */
  private def merged(options: Iterable[(String, String)]*): Map[String, String] =
    options.flatten.foldLeft(Map.empty[String, (String, String)]) { case (all, (key, value)) =>
      all.updated(fold(key), key -> value)
    }.values.toMap
}
