// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.reader

import java.util.concurrent.atomic.AtomicLong

import org.apache.kafka.common.serialization.ByteArrayDeserializer
import org.apache.kafka.common.{ClusterResource, ClusterResourceListener}

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
