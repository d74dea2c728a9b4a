// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic

import scala.annotation.varargs
import scala.collection.immutable.ListMap

import splice.kafka.dynamic.internal.metadata.UserMetadataServices
import splice.kafka.dynamic.internal.options.{DynamicOptions, StreamStarts}
import splice.kafka.dynamic.internal.settings.DynamicSettings
import splice.kafka.internal.options.KafkaOptions
import splice.kafka.{KafkaBuilder, OffsetsInitializer}
import splice.source.options.SourceOptions

/** Immutable builder of a source of streams on many clusters (FLIP-246's DynamicKafkaSourceBuilder). Each method
  * returns a new builder.
  */
final class DynamicKafkaSourceBuilder private[dynamic] (entries: ListMap[String, String])
    extends KafkaBuilder[DynamicKafkaSourceBuilder](entries) {

  /** Reads streams by name. */
  @varargs def streams(names: String*): DynamicKafkaSourceBuilder =
    option(DynamicOptions.Streams.key, names.mkString(","))

  /** Reads all streams whose name contains a match of a Java regular expression, including streams that are added
    * later.
    */
  def streamPattern(pattern: String): DynamicKafkaSourceBuilder = option(DynamicOptions.StreamPattern.key, pattern)

  /** Reads the metadata from a YAML or JSON file on any file system that Hadoop supports. */
  def metadataFile(path: String): DynamicKafkaSourceBuilder = option(DynamicOptions.MetadataFile.key, path)

  /** Reads the metadata from an HTTPS endpoint, or from an HTTP endpoint on this machine. `metadata.allowPlainHttp`
    * permits HTTP with other hosts.
    */
  def metadataUrl(url: String): DynamicKafkaSourceBuilder = option(DynamicOptions.MetadataUrl.key, url)

  /** Reads the metadata from a service object of this program.
    *
    * Splice never closes the service. Each query that runs with the source polls the service on a separate thread. The
    * source can start in this process only. Use `metadata.class` for other processes.
    */
  def metadataService(service: KafkaMetadataService): DynamicKafkaSourceBuilder =
    option(DynamicOptions.MetadataInstance.key, UserMetadataServices.register(service))

  /** Maps every topic of one cluster to a stream with the name of the topic. */
  def singleCluster(name: String, bootstrapServers: String): DynamicKafkaSourceBuilder =
    option(DynamicOptions.ClusterName.key, name).option(KafkaOptions.Servers.key, bootstrapServers)

  /** Sets the start of one stream on every cluster. By default, the stream starts like the other streams. */
  def startingOffsets(start: OffsetsInitializer, stream: String): DynamicKafkaSourceBuilder =
    starting(s"${StreamStarts.Prefix}$stream.", start)

  /** Sets the end of all streams on every cluster, which makes the source bounded. By default, the source has no end.
    *
    * @throws splice.source.errors.SpliceOptionException
    *   if `end` can only be a start
    */
  def endingOffsets(end: OffsetsInitializer): DynamicKafkaSourceBuilder = endingAt(end)

  override private[kafka] def copied(options: ListMap[String, String]): DynamicKafkaSourceBuilder =
    new DynamicKafkaSourceBuilder(options)

  override private[kafka] def check(options: SourceOptions): Unit = {
    DynamicOptions.set.rejectUnknown(options)
    val _ = DynamicSettings(options)
  }
}
