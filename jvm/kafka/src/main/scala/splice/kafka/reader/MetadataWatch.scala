// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.reader

import java.util.concurrent.atomic.{AtomicBoolean, AtomicLong}
import java.util.{Map => JMap}

import scala.util.control.NonFatal

import org.apache.kafka.clients.Metadata
import org.apache.kafka.clients.consumer.KafkaConsumer
import org.apache.kafka.common.serialization.ByteArrayDeserializer
import org.apache.kafka.common.{ClusterResource, ClusterResourceListener, Uuid}
import org.slf4j.LoggerFactory

/** Hands keys and values over as they are, and counts the metadata responses of the consumer that uses it.
  *
  * Kafka calls listeners once after each metadata response, and finds them among the deserializers that it is given.
  */
final private[reader] class MetadataWatch extends ByteArrayDeserializer with ClusterResourceListener {

  private val responses = new AtomicLong

  override def onUpdate(cluster: ClusterResource): Unit = { val _ = responses.incrementAndGet() }

  /** How many there were. */
  def count: Long = responses.get
}

private[reader] object MetadataWatch {
  private val log = LoggerFactory.getLogger(classOf[MetadataWatch])

  private val warned = new AtomicBoolean

  /** The ids of topics in the metadata of a consumer, from which it builds its fetch requests; None if this version of the client keeps them
    * elsewhere, which is logged once in a JVM.
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
            s"Readers request topic ids from brokers, since this version of Kafka's client does not show its own: $e"
          )
        None
    }
}
