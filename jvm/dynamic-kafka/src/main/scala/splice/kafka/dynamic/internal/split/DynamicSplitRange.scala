// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.split

import splice.kafka.internal.split.KafkaSplitRange
import splice.source.SplitRange

/** Range of a partition of one cluster.
  *
  * @param cluster
  *   name of the cluster. Readers use the latest client properties of the cluster, because passwords may have changed
  *   since the batch was planned
  * @param stream
  *   the stream that contains the topic
  */
final private[splice] case class DynamicSplitRange(cluster: String, stream: String, range: KafkaSplitRange)
    extends SplitRange {

  @transient override lazy val splitId: String = s"$cluster/${range.splitId}"

  override def weight: Long = range.weight

  override def isOpen: Boolean = range.isOpen

  override def slotted: Boolean = true

  override def cuttable: Boolean = range.cuttable

  override def pieces(weights: Seq[Long]): Seq[SplitRange] = range.pieces(weights).collect {
    case piece: KafkaSplitRange =>
      copy(range = piece)
  }

  override def toString: String = s"$cluster/$range"
}
