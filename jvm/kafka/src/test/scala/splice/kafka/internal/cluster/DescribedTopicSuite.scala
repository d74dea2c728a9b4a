// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.cluster

import scala.jdk.CollectionConverters._

import org.apache.kafka.clients.admin.TopicDescription
import org.apache.kafka.common.{Node, TopicPartitionInfo, Uuid}
import org.scalatest.funsuite.AnyFunSuite

/** Tests of topic descriptions of brokers. */
final class DescribedTopicSuite extends AnyFunSuite {

  private def state(id: Uuid): DescribedTopic = {
    val partitions = (0 until 3).map(p =>
      new TopicPartitionInfo(p, Node.noNode, List.empty[Node].asJava, List.empty[Node].asJava)
    )
    KafkaClusterClient.state(new TopicDescription("t", false, partitions.asJava, java.util.Set.of(), id))
  }

  test("a topic has the id and the number of partitions that the broker returns") {
    val id = Uuid.randomUuid()
    assert(state(id) == DescribedTopic(Some(id.toString), 3))
  }

  test("a broker without topic ids returns no id, which does not count as a different id") {
    assert(state(Uuid.ZERO_UUID) == DescribedTopic(None, 3))
  }
}
