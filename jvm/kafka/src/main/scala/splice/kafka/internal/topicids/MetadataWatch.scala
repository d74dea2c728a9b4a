// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.topicids

import java.util.concurrent.atomic.{AtomicBoolean, AtomicLong}
import java.util.{Map => JMap}

import scala.util.control.NonFatal

import org.apache.kafka.clients.Metadata
import org.apache.kafka.clients.consumer.KafkaConsumer
import org.apache.kafka.common.serialization.ByteArrayDeserializer
import org.apache.kafka.common.{ClusterResource, ClusterResourceListener, Uuid}
import org.slf4j.LoggerFactory

/** A deserializer that returns keys and values unchanged, and counts the metadata responses of its consumer.
  *
  * Kafka calls listeners once after each metadata response. Deserializers of a consumer may be listeners.
  */
final private[splice] class MetadataWatch extends ByteArrayDeserializer with ClusterResourceListener {

  private val responses = new AtomicLong

  override def onUpdate(cluster: ClusterResource): Unit = { val _ = responses.incrementAndGet() }

  /** The number of metadata responses. */
  def count: Long = responses.get
}

private[splice] object MetadataWatch {
  private val log = LoggerFactory.getLogger(classOf[MetadataWatch])

  private val warned = new AtomicBoolean

  /** The ids of topics in the metadata of a consumer, from which the consumer builds its fetch requests.
    *
    * Returns None if this version of the client stores the ids elsewhere. The reason is logged once per JVM.
    */
  def topicIds(consumer: KafkaConsumer[_, _]): Option[() => JMap[String, Uuid]] =
    try
      ClientFields.value(consumer, Seq("delegate", "metadata")) match {
        case metadata: Metadata => Some(() => metadata.topicIds())
        case other              => throw new ClassCastException(other.getClass.getName)
      }
    catch {
      case e @ (_: LinkageError | NonFatal(_)) =>
        if (!warned.getAndSet(true))
          log.warn(
            s"Readers request topic ids from brokers, since this version of Kafka's client does not expose them: $e"
          )
        None
    }
}
