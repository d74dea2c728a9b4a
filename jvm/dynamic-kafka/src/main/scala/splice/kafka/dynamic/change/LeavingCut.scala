// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.change

import splice.kafka.dynamic.split.ClusterTopic
import splice.kafka.split.KafkaPosition

/** Holds topics that leave to where they ended when they were removed. */
private[dynamic] object LeavingCut {

  /** The part of `until` that may be read of a cluster. */
  def apply(applied: AppliedMetadata, cluster: String, from: KafkaPosition, until: KafkaPosition): KafkaPosition =
    if (applied.leaving.keysIterator.exists(_.cluster == cluster)) cut(applied, cluster, from, until) else until

  private def cut(
      applied: AppliedMetadata,
      cluster: String,
      from: KafkaPosition,
      until: KafkaPosition
  ): KafkaPosition = {
    val cut = until.offsets.map { case (p, offset) =>
      applied.leaving.get(ClusterTopic(cluster, p.topic)).map(_.plan) match {
        // A partition that was added after the removal is not read at all.
        case Some(LeavingPlan.Drain(ends)) => p -> ends.get(p).fold(from.get(p))(end => Some(math.min(end, offset)))
        case _                             => p -> Option(offset)
      }
    }
    val held = until.copy(offsets = cut.collect { case (p, Some(offset)) => p -> offset })
    applied.leavingOn(cluster).foldLeft(held) {
      case (all, (topic, Leaving(_, _, LeavingPlan.Drain(ends), _))) if isOther(ends, topic, from, until) =>
        all.without(topic).and(from.only(topic))
      case (all, _) => all
    }
  }

  /** Whether a topic was recreated while it was drained. */
  def isOther(ends: KafkaPosition, topic: String, from: KafkaPosition, until: KafkaPosition): Boolean =
    from.hasTopic(topic) && until.hasTopic(topic) && until.generation(topic) != ends.generation(topic)
}
