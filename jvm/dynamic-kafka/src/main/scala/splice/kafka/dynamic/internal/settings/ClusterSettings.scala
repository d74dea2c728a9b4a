// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.settings

import scala.collection.immutable.SortedSet
import scala.collection.mutable

import splice.kafka.dynamic.KafkaCluster
import splice.kafka.internal.options.KafkaSettings

/** The settings of each cluster of a query. Each batch needs these settings. The object keeps the last settings of each
  * cluster, so a batch with rows of the same topics does not parse the options again. One thread uses the object.
  */
final private[dynamic] class ClusterSettings(query: DynamicSettings) {

  private val known = mutable.SortedMap.empty[String, (KafkaCluster, SortedSet[String], KafkaSettings)]

  /** The settings of all clusters. */
  def base: KafkaSettings = query.base

  /** Returns the settings for the topics of one cluster, as [[DynamicSettings.of]]. */
  def apply(cluster: KafkaCluster, topics: SortedSet[String]): KafkaSettings =
    known.get(cluster.name).collect { case (`cluster`, `topics`, settings) => settings }.getOrElse {
      val settings = query.of(cluster, topics)
      known(cluster.name) = (cluster, topics, settings)
      settings
    }
}
