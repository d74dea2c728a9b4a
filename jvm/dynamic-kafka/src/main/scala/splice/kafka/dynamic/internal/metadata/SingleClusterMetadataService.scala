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

  // Another thread may close the service.
  private var admin  = Option.empty[Admin]
  private var closed = false

  override def allStreams(): StreamMetadata = {
    val topics =
      try client().listTopics().names().get().asScala
      catch {
        case e: ExecutionException => throw failed(e.getCause)
        case e: KafkaException     => throw failed(e)
      }
    val streams = topics.map(topic => topic -> KafkaStream(topic, SortedMap(name -> SortedSet(topic))))
    val cluster = KafkaCluster(name, SortedMap(CommonClientConfigs.BOOTSTRAP_SERVERS_CONFIG -> properties.servers))
    StreamMetadata(None, SortedMap(name -> cluster), SortedMap.from(streams))
  }

  override def close(): Unit = synchronized {
    closed = true
    drop()
  }

  override def toString: String = s"the Kafka servers ${properties.servers}"

  private def client(): Admin = synchronized {
    if (closed) throw new InterruptedException("the metadata service is closed")
    admin.getOrElse {
      val created = Admin.create(properties.admin.asJava)
      admin = Some(created)
      created
    }
  }

  // By default, the client waits for requests that have not ended.
  private def drop(): Unit = synchronized {
    admin.foreach(_.close(Duration.ZERO))
    admin = None
  }

  // A client reads references to secrets only when it is created, and a rejected login may have an outdated secret.
  private def failed(cause: Throwable) = {
    drop()
    val hidden = properties.secrets.hide(cause)
    MetadataErrors.unavailable(toString, hidden.getMessage, Some(hidden))
  }
}
