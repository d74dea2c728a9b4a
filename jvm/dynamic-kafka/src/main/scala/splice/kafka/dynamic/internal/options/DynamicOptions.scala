// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.options

import java.net.URI
import java.time.Duration

import scala.collection.immutable.SortedSet
import scala.util.Try

import splice.kafka.dynamic.internal.change.{CutoverOrder, OnRemoved, RemovalRules}
import splice.kafka.internal.options.{KafkaOptions, PolicyOptions}
import splice.source.options.{OptionSet, OptionType, SourceOption}

/** Options of the Kafka source of many clusters, in addition to the options of the source of one cluster. */
private[splice] object DynamicOptions {

  val Streams: SourceOption[SortedSet[String]] = SourceOption(
    "streams",
    OptionType(
      "names of streams separated by commas",
      t => Some(SortedSet.from(KafkaOptions.names(t))).filter(_.nonEmpty)
    ),
    "Names of the streams to read. The metadata maps each stream to clusters and topics."
  )

  val StreamPattern: SourceOption[String] = SourceOption(
    "streamPattern",
    OptionType.Regex,
    "Pattern of the streams to read, including streams that are added later. A stream matches if its name " +
      "contains a match of the pattern. '^' and '$' anchor the pattern to the whole name."
  )

  val Metadata: SourceOption[MetadataKind] = SourceOption(
    "metadata",
    OptionType(
      MetadataKind.all.map(_.word).mkString(", "),
      text => MetadataKind.all.find(_.word.equalsIgnoreCase(text.trim))
    ),
    "Metadata service that maps streams to clusters and topics. Not needed if the options configure one service."
  )

  val MetadataFile: SourceOption[String] = SourceOption(
    "metadata.file",
    OptionType("a path on any file system that Hadoop supports", t => Some(t.trim).filter(_.nonEmpty)),
    "Path of the YAML or JSON document for the metadata service 'file'. To replace the document, rename a " +
      "new file to the path of the document."
  )

  val MetadataUrl: SourceOption[URI] = SourceOption(
    "metadata.url",
    OptionType(
      "an http or https address with a host name of letters, digits, '-' and '.'",
      t => Try(URI.create(t.trim)).toOption.filter(u => Option(u.getHost).nonEmpty && schemes(u.getScheme))
    ),
    "Address of the document for the metadata service 'http'. Splice sends the ETag of the last document " +
      "with each request. Splice follows no redirect."
  )

  private def schemes(scheme: String): Boolean = Seq("http", "https").exists(_.equalsIgnoreCase(scheme))

  val MetadataTimeout: SourceOption[Duration] =
    SourceOption(
      "metadata.timeout",
      OptionType.Time,
      "Maximum time of a request to the metadata service 'http', from the connection to the last byte of the " +
        "response. When a query restarts, Splice waits up to this time for the metadata service. If the service does " +
        "not respond, the query continues with the metadata of the checkpoint."
    )
      .withDefault(Duration.ofSeconds(10), "10s")

  val MetadataFailureTimeout: SourceOption[Duration] = SourceOption(
    "metadata.failureTimeout",
    OptionType.Time,
    "Time for which the query continues with the last metadata of a service that does not respond. The query " +
      "fails after this time. A restart of the query begins a new period of this length. An invalid document is a " +
      "response, so the query continues with the previous metadata until the document is corrected."
  ).withDefault(Duration.ofHours(1), "1h")

  val MetadataHeader = "metadata.header."

  /** Prefix of options that only a user's class reads. */
  val ClassPrefix = "metadata.class."

  val ClusterName: SourceOption[String] = SourceOption(
    "metadata.cluster",
    OptionType(ClusterNames.Allowed, t => Some(t.trim).filter(ClusterNames.isValid)),
    "Name of the cluster at 'kafka.bootstrap.servers' for the metadata service 'singleCluster'."
  ).withDefault("kafka", "kafka")

  val MetadataPython: SourceOption[String] = SourceOption(
    "metadata.python",
    OptionType.Text,
    "Name of the metadata service 'python' in the driver. The Python package sets this option."
  )

  val MetadataClass: SourceOption[String] = SourceOption(
    "metadata.class",
    OptionType(
      "the name of a class that implements splice.kafka.dynamic.KafkaMetadataService, such as com.example.Inventory",
      t => Some(t.trim).filter(_.nonEmpty)
    ),
    "Class of the metadata service 'class'. The public constructor of the class has no parameters, or one " +
      "parameter of type 'java.util.Map'. The map contains all options that begin with 'metadata.', " +
      "including further options 'metadata.class.<name>' for the class."
  )

  val MetadataInstance: SourceOption[String] = SourceOption(
    "metadata.instance",
    OptionType.Text,
    "Name of the metadata service 'instance' in the driver. The method 'metadataService' of the builder sets " +
      "this option."
  )

  val MetadataProperties: SourceOption[Boolean] = SourceOption(
    "metadataProperties",
    OptionType.choice[Boolean]("safe" -> false, "any" -> true),
    "Properties of the Kafka client that the metadata may set for a cluster. 'safe' permits addresses, and " +
      "the name of credentials that 'credentials.<name>.kafka.<property>' defines. 'any' permits each " +
      "property that the query may set. With 'any', the author of the metadata has the rights of this job."
  ).withDefault(false, "safe")

  val OnRemovedOption: SourceOption[OnRemoved] = SourceOption(
    "onRemoved",
    OptionType.choice[OnRemoved](OnRemoved.all.map(p => p.word -> p): _*),
    "Policy for topics that the metadata removes. With 'drain', Splice reads a removed topic up to its end " +
      "at the removal. With 'drop', Splice stops reading a removed topic. 'fail' ends the query with an " +
      "error."
  ).withDefault(OnRemoved.Drain, OnRemoved.Drain.word)

  val CutoverOption: SourceOption[CutoverOrder] = SourceOption(
    "cutover",
    OptionType.choice[CutoverOrder](CutoverOrder.all.map(c => c.word -> c): _*),
    "Order in which Splice reads the old and new topics of a stream. With 'together', Splice reads old and " +
      "new topics at the same time. With 'stream', Splice reads the new topics after the removed topics are " +
      "drained."
  ).withDefault(CutoverOrder.Together, CutoverOrder.Together.word)

  val DrainTimeout: SourceOption[Duration] = SourceOption(
    "drainTimeout",
    OptionType.Time,
    "Time for which the cluster of a removed topic may be unavailable before Splice stops draining the " +
      "topic. Splice then logs a warning with the number of unread rows."
  ).withDefault(RemovalRules.Default.drainTimeout, "1h")

  val MaxRemovalFraction: SourceOption[Double] = SourceOption(
    "maxRemovalFraction",
    OptionType("a number above 0 and up to 1", _.trim.toDoubleOption.filter(f => f > 0 && f <= 1)),
    "Maximum share of all topics that one metadata document may remove. Splice does not apply metadata " +
      "that removes a larger share. 'confirmRemovals' in the document permits a larger share. The value '1' " +
      "sets no limit. Splice never applies metadata that removes every topic."
  ).withDefault(RemovalRules.Default.maxFraction, "0.5")

  val ClusterWait: SourceOption[Duration] = SourceOption(
    "clusterWait",
    OptionType.Time,
    "Maximum time for which a batch waits for the responses of all clusters. The batch then continues without " +
      "the clusters that have not responded. Later batches wait for these clusters at most 1 % of the time that the " +
      "query runs."
  ).withDefault(Duration.ofSeconds(5), "5s")

  val OnClusterUnavailable: SourceOption[Boolean] = SourceOption(
    "onClusterUnavailable",
    OptionType.choice[Boolean]("fail" -> true, "wait" -> false),
    "Policy for a cluster that does not respond within 'clusterTimeout'. 'fail' ends the query with an " +
      "error. With 'wait', the query continues with the other clusters."
  ).withDefault(false, "wait")

  val MaxGaugeTopics: SourceOption[Int] = SourceOption(
    "maxGaugeTopics",
    OptionType("a whole number, 0 or more", _.trim.toIntOption.filter(_ >= 0)),
    "Maximum number of topics of all clusters that have gauges in Spark's metric system. Each of these " +
      "topics has up to five gauges. Splice selects the first topics in the order of cluster name and topic " +
      "name."
  ).withDefault(400, "400")

  val specific: Seq[SourceOption[_]] = Seq(
    Streams,
    StreamPattern,
    Metadata,
    MetadataFile,
    MetadataUrl,
    MetadataTimeout,
    MetadataFailureTimeout,
    ClusterName,
    MetadataPython,
    MetadataClass,
    MetadataInstance,
    MetadataProperties,
    OnRemovedOption,
    CutoverOption,
    DrainTimeout,
    PolicyOptions.RemovedRetention,
    MaxRemovalFraction,
    ClusterWait,
    PolicyOptions.ClusterTimeout,
    OnClusterUnavailable,
    MaxGaugeTopics
  ) ++ HttpOptions.all

  /** All options: the options of this object, and the options of one cluster except the options that select its topics.
    */
  val set: OptionSet = OptionSet("Kafka, many clusters", specific, isOfClusters, isOfClusters)

  private def isOfClusters(key: String): Boolean =
    ofOneCluster(KafkaOptions.word(key)) || KafkaOptions.set.others(key) ||
      KafkaOptions.word(key).startsWith(MetadataHeader) || KafkaOptions.word(key).startsWith(ClassPrefix) ||
      KafkaOptions.word(key).startsWith(ClusterPrefix) ||
      StreamStarts.isOne(key.trim) || Credentials.isOne(key.trim)

  /** Prefix of client properties and options of one cluster. */
  val ClusterPrefix = "cluster."

  private lazy val ofOneCluster: Set[String] =
    KafkaOptions.set.options.filterNot(KafkaOptions.Subscriptions.contains).map(o => KafkaOptions.word(o.key)).toSet
}

/** Rules for the names of clusters, which are part of offsets, options and names of folders. */
private[dynamic] object ClusterNames {

  private val pattern = "[A-Za-z0-9][A-Za-z0-9._-]{0,127}".r

  val Allowed = "up to 128 letters, digits, '.', '_' and '-', beginning with a letter or a digit"

  def isValid(name: String): Boolean = pattern.matches(name)
}
