// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic

import java.util.{Map => JMap}

import scala.annotation.varargs
import scala.collection.immutable.ListMap
import scala.jdk.CollectionConverters._

import splice.kafka.OffsetsInitializer
import splice.kafka.options.{KafkaOptions, PolicyOptions}
import splice.source.{CommonOptions, OptionErrors, SourceOptions, SourceSpec}

/** Builds a source of streams on many clusters (FLIP-246's DynamicKafkaSourceBuilder). Not for use by several threads at once. */
final class DynamicKafkaSourceBuilder private[dynamic] {

  private var chosen = ListMap(CommonOptions.Source.key -> DynamicKafkaSource.Kind)

  /** Reads streams by name. */
  @varargs def streams(names: String*): DynamicKafkaSourceBuilder =
    option(DynamicOptions.Streams.key, names.mkString(","))

  /** Reads all streams whose name holds a match of a Java regular expression, also those made later. */
  def streamPattern(pattern: String): DynamicKafkaSourceBuilder = option(DynamicOptions.StreamPattern.key, pattern)

  /** Takes the metadata from a YAML or JSON file on any file system that Hadoop reaches. */
  def metadataFile(path: String): DynamicKafkaSourceBuilder = option(DynamicOptions.MetadataFile.key, path)

  /** Takes the metadata from an HTTP endpoint. */
  def metadataUrl(url: String): DynamicKafkaSourceBuilder = option(DynamicOptions.MetadataUrl.key, url)

  /** Takes every topic of one cluster for a stream of its own name. */
  def singleCluster(name: String, bootstrapServers: String): DynamicKafkaSourceBuilder =
    option(DynamicOptions.ClusterName.key, name).option(KafkaOptions.Servers.key, bootstrapServers)

  /** Commits to a consumer group of every cluster what Spark has committed; by default nothing is. */
  def commitToGroup(group: String): DynamicKafkaSourceBuilder =
    option(s"${KafkaOptions.ClientPrefix}group.id", group).option(PolicyOptions.CommitToGroup.key, "true")

  /** Fixes the start on every cluster; by default a stream starts at the latest records, a batch at the earliest. */
  def startingOffsets(start: OffsetsInitializer): DynamicKafkaSourceBuilder = options(start.starting)

  /** Fixes the end on every cluster, which makes the source bounded; by default there is none. */
  def stoppingOffsets(end: OffsetsInitializer): DynamicKafkaSourceBuilder = options(end.ending.getOrElse {
    val option = KafkaOptions.Ending
    throw OptionErrors.invalidValue(option.key, end.starting.values.mkString(", "), option.kind.allowed, option.doc)
  })

  /** Sets one option. */
  def option(key: String, value: String): DynamicKafkaSourceBuilder = {
    chosen += key -> value
    this
  }

  /** Sets several options. */
  def options(more: Map[String, String]): DynamicKafkaSourceBuilder = {
    chosen ++= more
    this
  }

  /** Sets several options, for Java. */
  def options(more: JMap[String, String]): DynamicKafkaSourceBuilder = options(more.asScala.toMap)

  /** Checks all that can be said without asking a metadata service or a broker.
    *
    * @throws splice.source.SpliceOptionException
    *   when options are missing, unknown, conflict, or say what they must not
    */
  def build(): SourceSpec = {
    val options = SourceOptions(chosen)
    DynamicOptions.set.refuseUnknown(options)
    val _ = DynamicSettings(options)
    SourceSpec(chosen)
  }
}
