// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.testkit

import scala.jdk.CollectionConverters._

import org.apache.kafka.clients.admin.{Admin, NewPartitions, NewTopic, OffsetSpec}
import org.apache.kafka.common.TopicPartition

/** Makes topics that can be written to at once.
  *
  * A broker says that a topic is there before each of its partitions has a leader. A producer that sends several requests in that moment can
  * have its first refused and its second taken, and its first then never gets in (KAFKA-15591).
  */
object KafkaTopics {

  /** Makes a topic and waits until every partition has a leader. */
  def create(admin: Admin, topic: String, partitions: Int, config: (String, String)*): Unit = {
    val made = new NewTopic(topic, partitions, 1.toShort).configs(config.toMap.asJava)
    admin.createTopics(Seq(made).asJava).all().get()
    awaitLeaders(admin, topic, partitions)
  }

  /** Gives a topic more partitions and waits until every one has a leader. */
  def grow(admin: Admin, topic: String, partitions: Int): Unit = {
    admin.createPartitions(Map(topic -> NewPartitions.increaseTo(partitions)).asJava).all().get()
    awaitLeaders(admin, topic, partitions)
  }

  /** Asks for ends, which only leaders know; the client asks again until they are there. */
  private def awaitLeaders(admin: Admin, topic: String, partitions: Int): Unit = {
    val ends = (0 until partitions).map(p => new TopicPartition(topic, p) -> OffsetSpec.latest()).toMap
    val _    = admin.listOffsets(ends.asJava).all().get()
  }
}
