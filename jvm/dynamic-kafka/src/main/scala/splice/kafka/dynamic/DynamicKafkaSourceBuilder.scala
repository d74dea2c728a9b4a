// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic

import scala.annotation.varargs

import splice.kafka.dynamic.internal.metadata.UserMetadataServices
import splice.kafka.dynamic.internal.options.{DynamicOptions, StreamStarts}
import splice.kafka.dynamic.internal.settings.DynamicSettings
import splice.kafka.internal.options.KafkaOptions
import splice.kafka.{KafkaBuilder, OffsetsInitializer}
import splice.source.options.SourceOptions

/** Builds a source of streams on many clusters (FLIP-246's DynamicKafkaSourceBuilder). Not for use by several threads at once. */
final class DynamicKafkaSourceBuilder private[dynamic]
    extends KafkaBuilder[DynamicKafkaSourceBuilder](DynamicKafkaSource.Kind) {

  /** Reads streams by name. */
  @varargs def streams(names: String*): DynamicKafkaSourceBuilder =
    option(DynamicOptions.Streams.key, names.mkString(","))

  /** Reads all streams whose name holds a match of a Java regular expression, also those made later. */
  def streamPattern(pattern: String): DynamicKafkaSourceBuilder = option(DynamicOptions.StreamPattern.key, pattern)

  /** Takes the metadata from a YAML or JSON file on any file system that Hadoop reaches. */
  def metadataFile(path: String): DynamicKafkaSourceBuilder = option(DynamicOptions.MetadataFile.key, path)

  /** Takes the metadata from an HTTPS endpoint, or HTTP on this machine. `metadata.allowPlainHttp` permits HTTP. */
  def metadataUrl(url: String): DynamicKafkaSourceBuilder = option(DynamicOptions.MetadataUrl.key, url)

  /** Takes the metadata from a service of this program.
    *
    * Splice never closes the service. Each query that runs with the source polls it on a thread of its own. The source can be started in
    * this process only; use `metadata.class` otherwise.
    */
  def metadataService(service: KafkaMetadataService): DynamicKafkaSourceBuilder =
    option(DynamicOptions.MetadataInstance.key, UserMetadataServices.register(service))

  /** Takes every topic of one cluster for a stream of its own name. */
  def singleCluster(name: String, bootstrapServers: String): DynamicKafkaSourceBuilder =
    option(DynamicOptions.ClusterName.key, name).option(KafkaOptions.Servers.key, bootstrapServers)

  /** Fixes the start of one stream on every cluster, which begins where the others do by default. */
  def startingOffsets(start: OffsetsInitializer, stream: String): DynamicKafkaSourceBuilder =
    starting(s"${StreamStarts.Prefix}$stream.", start)

  /** Fixes the end on every cluster, which makes the source bounded; by default there is none.
    *
    * @throws splice.source.errors.SpliceOptionException
    *   when it can be a start only
    */
  def endingOffsets(end: OffsetsInitializer): DynamicKafkaSourceBuilder = endingAt(end)

  override private[kafka] def check(options: SourceOptions): Unit = {
    DynamicOptions.set.refuseUnknown(options)
    val _ = DynamicSettings(options)
  }
}
