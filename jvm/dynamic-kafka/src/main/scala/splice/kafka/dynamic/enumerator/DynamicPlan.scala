// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.enumerator

import splice.kafka.dynamic.change.{ChangeLog, ChangeSpan}
import splice.kafka.dynamic.split.{ClusterTopic, DynamicPosition, DynamicSplitRange}
import splice.kafka.enumerator.KafkaPlan

/** The ranges between positions of many clusters, by the positions and the side log. Sends no request and writes no entry.
  *
  * @param plans
  *   the plan of a cluster
  */
final private[dynamic] class DynamicPlan(changes: ChangeLog, plans: String => KafkaPlan) {

  /** The spans of all clusters of which something was read. */
  def spans(from: DynamicPosition, until: DynamicPosition): Seq[ChangeSpan] =
    ChangeSpan.between(from, until, changes(from.change), changes.between(from.change, until.change))

  def splits(from: DynamicPosition, until: DynamicPosition): Seq[DynamicSplitRange] = {
    // The last one first: a topic that left its stream meanwhile has it in an earlier change.
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
