// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.settings

import org.slf4j.LoggerFactory

import splice.kafka.dynamic.internal.errors.DynamicErrors
import splice.kafka.dynamic.internal.options.{Credentials, DynamicOptions}
import splice.kafka.dynamic.{KafkaMetadataService, StreamMetadata}
import splice.kafka.internal.errors.KafkaErrors
import splice.kafka.internal.options.{AdmissionOptions, KafkaOptions, PolicyOptions}
import splice.source.errors.OptionErrors
import splice.source.options.SourceOptions.fold
import splice.source.options.{OptionSet, SourceOption, SourceOptions}

/** Options of single clusters, `cluster.<name>.<option>`, and the clusters of the metadata to which they apply.
  *
  * Option keys are case-insensitive. Cluster names are case-sensitive.
  */
final private[dynamic] class ClusterOptions private (options: SourceOptions, names: Seq[String]) {

  import ClusterOptions._

  /** Wraps a service, for one run. The new service compares the clusters of each response with the options.
    *
    * If one option matches two clusters of a response, the service throws an error. For names that the metadata does
    * not have, the service logs a warning.
    */
  def watch(service: KafkaMetadataService): KafkaMetadataService =
    if (names.isEmpty) service
    else
      new KafkaMetadataService {
        private var unused = Set.empty[String]

        override def allStreams(): StreamMetadata                        = watched(service.allStreams())
        override def describeStreams(names: Set[String]): StreamMetadata = watched(service.describeStreams(names))
        override def close(): Unit                                       = service.close()
        override def toString: String                                    = service.toString

        override private[dynamic] def isUnlistedActive(cluster: String): Option[Boolean] =
          service.isUnlistedActive(cluster)

        private def watched(metadata: StreamMetadata): StreamMetadata = {
          val now = check(metadata)
          (now -- unused).foreach(name => logger.warn(warning(name, metadata)))
          unused = now
          metadata
        }
      }

  /** Returns the cluster names in options that the metadata does not have.
    *
    * @throws splice.source.errors.SpliceException
    *   if an option matches several clusters, whose names differ only in case
    */
  private[dynamic] def check(metadata: StreamMetadata): Set[String] = {
    val clusters = metadata.clusters.keys.toSeq.groupBy(fold)
    names.foreach { name =>
      clusters.get(fold(name)).filter(_.size > 1).foreach(several =>
        throw DynamicErrors.ambiguous(several.sorted, options.name(s"$Prefix$name"))
      )
    }
    names.filterNot(name => clusters.contains(fold(name))).toSet
  }

  private def warning(name: String, metadata: StreamMetadata): String =
    s"The options '${options.name(s"$Prefix$name")}.*' have no effect, because the metadata has no cluster '$name'. " +
      s"The clusters of the metadata are ${metadata.clusters.keys.take(Shown).mkString(", ")}${if (
          metadata.clusters.size > Shown
        ) ", …"
        else ""}."
}

private[splice] object ClusterOptions {

  private val logger = LoggerFactory.getLogger(classOf[ClusterOptions])

  private val Prefix = DynamicOptions.ClusterPrefix

  private val Shown = 20

  private val ends: Seq[SourceOption[_]] =
    Seq(KafkaOptions.Ending, KafkaOptions.EndingTimestamp, KafkaOptions.EndingTimestamps)

  /** Options that apply to one cluster, in addition to properties of its Kafka client. */
  val allowed: Seq[SourceOption[_]] = Seq(
    KafkaOptions.Starting,
    KafkaOptions.StartingTimestamp,
    KafkaOptions.StartingTimestamps,
    KafkaOptions.TimestampStrategy,
    KafkaOptions.Reset
  ) ++ ends ++ Seq(
    KafkaOptions.FailOnDataLoss,
    PolicyOptions.OnOutOfRange,
    PolicyOptions.OnTopicRecreated,
    PolicyOptions.OnTopicRemoved,
    PolicyOptions.NewPartitionsStart,
    PolicyOptions.Rack,
    KafkaOptions.MaxOffsets,
    AdmissionOptions.MaxBytes,
    KafkaOptions.GroupIdPrefix,
    KafkaOptions.PollTimeout,
    KafkaOptions.Retries,
    KafkaOptions.RetryInterval,
    KafkaOptions.DiscoveryInterval,
    KafkaOptions.ReaderIdleTimeout
  )

  /** Checks all options of single clusters.
    *
    * @param isBounded
    *   true if the source has an end on all clusters
    * @param parse
    *   parses the options of one cluster together with the options for all clusters
    * @throws splice.source.errors.SpliceOptionException
    *   if an option does not apply to one cluster, or its value is not allowed
    */
  def apply(options: SourceOptions, isBounded: Boolean)(parse: SourceOptions => Unit): ClusterOptions = {
    val names = options.keys.filter(isOne).map(nameOf(options, _)).distinctBy(fold)
    names.foreach { name =>
      val scoped = options.scope(s"$Prefix$name")
      allowed.foreach(option => scoped.find(option): Option[Any])
      ends.find(end => !isBounded && scoped.contains(end.key)).foreach(end =>
        throw KafkaErrors.rejectedOption(
          scoped.name(end.key),
          s"one cluster cannot end alone. Set '${options.name(end.key)}' to an end of all clusters as well"
        )
      )
      parse(scoped)
    }
    new ClusterOptions(options, names)
  }

  /** Returns the options that limit a batch of one cluster. */
  def batchLimits(options: SourceOptions): Seq[String] = options.keys.toSeq.filter { key =>
    isOne(key) &&
    Seq(KafkaOptions.MaxOffsets, AdmissionOptions.MaxBytes).exists(o => fold(key).endsWith(s".${fold(o.key)}"))
  }

  def isOne(key: String): Boolean = fold(key).startsWith(Prefix)

  /** Returns the cluster name of an option. Names may contain dots. */
  private def nameOf(options: SourceOptions, key: String): String = {
    val rest = key.drop(Prefix.length)
    Credentials.ofClient(rest).orElse(
      allowed.find(option => fold(rest).endsWith(s".${fold(option.key)}") && rest.length > option.key.length + 1)
        .map(option => rest.dropRight(option.key.length + 1))
    ).getOrElse(throw unknown(options, key, rest))
  }

  private def unknown(options: SourceOptions, key: String, rest: String): Exception = {
    val (name, option) = (rest.takeWhile(_ != '.'), rest.dropWhile(_ != '.').drop(1))
    def like(candidates: Seq[SourceOption[_]]): Option[String] =
      candidates.map(_.key).map(k => k -> OptionSet.distance(option, k)).minByOption(_._2)
        .collect { case (k, distance) if distance <= 1 + option.length / 3 => k }
    val ofAll = (DynamicOptions.specific ++ KafkaOptions.set.options).find(o =>
      s".${fold(option)}".endsWith(s".${fold(o.key)}")
    )
    ofAll match {
      case Some(known) => KafkaErrors.rejectedOption(
          options.name(key),
          s"this option applies to all clusters only. Set '${options.name(known.key)}'. $Allowed"
        )
      case None =>
        val head   = option.takeWhile(_ != '.')
        val client =
          Option.when(option.contains('.') && OptionSet.distance(s"$head.", KafkaOptions.ClientPrefix) <= 2)(
            KafkaOptions.ClientPrefix + option.drop(head.length + 1)
          )
        client.orElse(like(allowed)).filter(_ => name.nonEmpty) match {
          case Some(near) => OptionErrors.unknown(options.name(key), Some(options.name(s"$Prefix$name.$near")))
          case None       => KafkaErrors.rejectedOption(options.name(key), s"$Allowed. Remove this option")
        }
    }
  }

  private def Allowed =
    s"For one cluster these options can be set, as '$Prefix<name>.<option>': kafka.<property of the client>, " +
      allowed.map(_.key).mkString(", ")
}
