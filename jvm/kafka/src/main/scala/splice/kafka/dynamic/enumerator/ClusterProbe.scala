// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.enumerator

import scala.collection.immutable.SortedSet
import scala.util.Using

import splice.kafka.dynamic.{DynamicSettings, KafkaCluster}
import splice.kafka.enumerator.KafkaLogMetadata
import splice.kafka.split.KafkaPosition

/** Asks a cluster about a topic once, by clients of its own. */
final private[dynamic] class ClusterProbe(settings: DynamicSettings, run: String) {

  /** Where a topic begins that is new to the query. */
  def begin(cluster: KafkaCluster, topic: String): KafkaPosition = {
    val own = settings.of(cluster, SortedSet(topic))
    Using.resource(new KafkaLogMetadata(own, run)) { log =>
      KafkaPosition.of(log.starts(own.policies.newPartitions, log.describe().partitions.toSet))
    }
  }
}
