// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.metadata

import java.time.Duration
import java.util.concurrent.ExecutionException

import scala.collection.immutable.{SortedMap, SortedSet}
import scala.jdk.CollectionConverters._

import org.apache.kafka.clients.CommonClientConfigs
import org.apache.kafka.clients.admin.Admin
import org.apache.kafka.common.KafkaException

import splice.kafka.dynamic.internal.errors.MetadataErrors
import splice.kafka.dynamic.{KafkaCluster, KafkaMetadataService, KafkaStream, StreamMetadata}
import splice.kafka.internal.options.ClientProperties

/** Maps every topic of one cluster, except internal topics, to a stream with the name of the topic.
  *
  * The metadata contains only the addresses of the brokers, because the checkpoint stores metadata. The query's options
  * contain the other properties.
  */
final private[dynamic] class SingleClusterMetadataService(name: String, properties: ClientProperties)
    extends KafkaMetadataService {

  private lazy val admin = {
    created = true
    Admin.create(properties.admin.asJava)
  }
  // Another thread may close the service.
  @volatile private var created = false

  override def allStreams(): StreamMetadata = {
    val topics =
      try admin.listTopics().names().get().asScala
      catch {
        case e: ExecutionException => throw unavailable(e.getCause)
        case e: KafkaException     => throw unavailable(e)
      }
    val streams = topics.map(topic => topic -> KafkaStream(topic, SortedMap(name -> SortedSet(topic))))
    val cluster = KafkaCluster(name, SortedMap(CommonClientConfigs.BOOTSTRAP_SERVERS_CONFIG -> properties.servers))
    StreamMetadata(None, SortedMap(name -> cluster), SortedMap.from(streams))
  }

  // By default, the client waits for requests that have not ended.
  override def close(): Unit = if (created) admin.close(Duration.ZERO)

  override def toString: String = s"the Kafka servers ${properties.servers}"

  private def unavailable(cause: Throwable) =
    MetadataErrors.unavailable(
      toString,
      properties.secrets.hide(cause).getMessage,
      Some(properties.secrets.hide(cause))
    )
}
