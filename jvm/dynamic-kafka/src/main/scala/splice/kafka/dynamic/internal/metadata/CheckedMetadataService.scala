// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.metadata

import scala.util.control.NonFatal

import org.apache.kafka.clients.CommonClientConfigs
import org.apache.kafka.common.internals.Topic

import splice.kafka.dynamic.internal.document.{DocumentProperties, MetadataDocument}
import splice.kafka.dynamic.internal.errors.MetadataErrors
import splice.kafka.dynamic.internal.options.ClusterNames
import splice.kafka.dynamic.{KafkaMetadataService, StreamMetadata, StreamPlace}
import splice.kafka.internal.options.AdmissionOptions.MaxBytes
import splice.kafka.internal.options.KafkaOptions.MaxOffsets
import splice.source.errors.SpliceException

/** Checks the metadata of a user's service by the rules for documents: names, references between streams and clusters,
  * client properties, and literal secrets.
  *
  * @param name
  *   the name of the service in errors
  * @param rules
  *   decides which client properties the service may set
  * @param closes
  *   true if Splice created the service, and so must close it
  * @param make
  *   creates or finds the service; called before the first request, on the thread of the requests
  */
final private[dynamic] class CheckedMetadataService(name: String, rules: DocumentProperties, closes: Boolean)(
    make: () => KafkaMetadataService
) extends KafkaMetadataService {

  private var created = Option.empty[KafkaMetadataService]

  override def allStreams(): StreamMetadata = checked(_.allStreams())

  override def describeStreams(names: Set[String]): StreamMetadata = checked(_.describeStreams(names).only(names))

  override private[dynamic] def isUnlistedActive(cluster: String): Option[Boolean] =
    request(_.isUnlistedActive(cluster))

  // If the service does not respond, another thread closes it.
  override def close(): Unit = if (closes) synchronized(created).foreach(_.close())

  override def toString: String = name

  private def checked(response: KafkaMetadataService => StreamMetadata): StreamMetadata = {
    val metadata = request(response)
    check(metadata)
    metadata
  }

  private def request[A](response: KafkaMetadataService => A): A = {
    val service = synchronized {
      created = created.orElse(Some(make()))
      created
    }
    try service.flatMap(delegate => Option(response(delegate))).getOrElse(throw invalid("the service returned null"))
    catch {
      case e: SpliceException => throw e
      case NonFatal(e)        => throw MetadataErrors.unavailable(name, e.toString, Some(e))
    }
  }

  private def check(metadata: StreamMetadata): Unit = {
    metadata.clusters.foreach { case (key, cluster) =>
      if (key != cluster.name) throw invalid(s"the key of cluster '${cluster.name}' is '$key'")
      if (!ClusterNames.isValid(key)) throw invalid(s"'$key' is not a valid cluster name. Use ${ClusterNames.Allowed}")
      if (cluster.properties.get(CommonClientConfigs.BOOTSTRAP_SERVERS_CONFIG).forall(_.trim.isEmpty))
        throw invalid(s"cluster '$key' has no property ${CommonClientConfigs.BOOTSTRAP_SERVERS_CONFIG}")
      for {
        (field, limit) <-
          Seq(MaxOffsets.key -> cluster.maxOffsetsPerTrigger, MaxBytes.key -> cluster.maxBytesPerTrigger)
        wrong <- limit if wrong < 1
      } throw invalid(s"'$wrong' is not a valid '$field' of cluster '$key'. Use a whole number, 1 or more")
      cluster.properties.keysIterator.foreach { property =>
        rules.rejection(key, cluster.properties, property).foreach(why =>
          throw invalid(s"property '$property' of cluster '$key' is rejected: $why")
        )
      }
    }
    metadata.streams.foreach { case (key, stream) =>
      if (key != stream.name) throw invalid(s"the key of stream '${stream.name}' is '$key'")
      if (key.isEmpty || key.length > MetadataDocument.LongestStream)
        throw invalid(s"'${key.take(MetadataDocument.LongestStream)}' is not valid: ${MetadataDocument.StreamNames}")
      if (stream.stop.contains(StreamPlace.Earliest))
        throw invalid(s"the stop of stream '$key' is Earliest. Use StreamPlace.Latest, a time or offsets")
      for {
        (field, place) <- Seq("cutover" -> stream.cutover, "start" -> stream.start, "stop" -> stream.stop)
        known          <- place
        why            <- StreamPlace.rejection(known).orElse(
          if (field == "cutover") StreamPlace.foreign(known, stream)
          else StreamPlace.misfit(known, stream, isStop = field == "stop")
        )
      } throw invalid(s"the $field of stream '$key' is rejected: $why")
      stream.topics.foreach { case (cluster, topics) =>
        if (!metadata.clusters.contains(cluster))
          throw invalid(
            s"stream '$key' names cluster '$cluster', and the clusters are ${metadata.clusters.keys.mkString(", ")}"
          )
        if (topics.isEmpty)
          throw invalid(s"stream '$key' has no topic on cluster '$cluster'. Remove the cluster from the stream")
        topics.filterNot(Topic.isValid).foreach(topic =>
          throw invalid(
            s"topic '$topic' of stream '$key' on cluster '$cluster' is not a valid topic name. " +
              s"Use ${MetadataDocument.TopicNames}"
          )
        )
      }
    }
  }

  private def invalid(reason: String): SpliceException = MetadataErrors.invalidResponse(name, reason)
}
