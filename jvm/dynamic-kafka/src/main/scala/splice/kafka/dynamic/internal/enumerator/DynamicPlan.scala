// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.enumerator

import splice.kafka.dynamic.internal.split.{ClusterTopic, DynamicPosition, DynamicSplitRange}
import splice.kafka.dynamic.internal.state.{ChangeEntries, ChangeSpan}
import splice.kafka.internal.enumerator.KafkaPlan

/** Computes the ranges between positions of many clusters from the positions and the side log. Sends no request and
  * writes no entry.
  *
  * @param plans
  *   returns the plan of a cluster
  */
final private[dynamic] class DynamicPlan(changes: ChangeEntries, plans: String => KafkaPlan) {

  /** Returns the spans of all clusters with records that were read. */
  def spans(from: DynamicPosition, until: DynamicPosition): Seq[ChangeSpan] =
    ChangeSpan.between(from, until, changes(from.change), changes.between(from.change, until.change))

  def splits(from: DynamicPosition, until: DynamicPosition): Seq[DynamicSplitRange] = {
    // The latest change is first. If a topic left its stream in this period, an earlier change has the stream of the
    // topic.
    val history                             = changes.between(from.change - 1, until.change).reverse
    def stream(topic: ClusterTopic): String =
      history.iterator.flatMap(_.stream(topic)).nextOption().getOrElse(topic.topic)
    spans(from, until).flatMap { span =>
      val streams = span.until.topics.iterator.map(t => t -> stream(ClusterTopic(span.cluster, t))).toMap
      plans(span.cluster).splits(span.from, span.until).map { range =>
        DynamicSplitRange(span.cluster, streams(range.partition.topic), range)
      }
    }
  }
}
