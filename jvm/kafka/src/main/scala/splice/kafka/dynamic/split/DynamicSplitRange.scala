// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.split

import splice.kafka.dynamic.KafkaCluster
import splice.kafka.split.KafkaSplitRange
import splice.source.SplitRange

/** A range of a partition of one of several clusters.
  *
  * @param cluster
  *   how it is reached, as far as it is known now: a replay takes what is known last, since passwords may have changed
  * @param stream
  *   the stream that the topic belongs to
  */
final private[splice] case class DynamicSplitRange(cluster: KafkaCluster, stream: String, range: KafkaSplitRange)
    extends SplitRange {

  @transient override lazy val splitId: String = s"${cluster.name}/${range.splitId}"

  override def weight: Long = range.weight

  override def slotted: Boolean = true

  override def cuttable: Boolean = true

  override def pieces(weights: Seq[Long]): Seq[SplitRange] = range.pieces(weights).collect {
    case piece: KafkaSplitRange =>
      copy(range = piece)
  }

  override def toString: String = s"${cluster.name}/$range"
}
