// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.change

import splice.kafka.dynamic.split.{ClusterTopic, DynamicPosition}
import splice.kafka.split.KafkaPosition
import splice.source.LogPartition

/** Whether what a stream is moved to waits until what it is moved from was drained. */
sealed abstract private[dynamic] class Cutover(val word: String) extends Product with Serializable

private[dynamic] object Cutover {

  /** Nothing waits. */
  case object Together extends Cutover("together")

  /** A stream's new topics wait for all that is drained of it. */
  case object Stream extends Cutover("stream")

  /** A partition of a stream's new topics waits for the partition of the same number in all that is drained of it. */
  case object Partition extends Cutover("partition")

  val all: Seq[Cutover] = Seq(Together, Stream, Partition)

  /** The part of `until` that may be read of a cluster while others are drained.
    *
    * @param at
    *   the position of all clusters
    */
  def hold(
      cutover: Cutover,
      applied: AppliedMetadata,
      cluster: String,
      at: DynamicPosition,
      until: KafkaPosition
  ): KafkaPosition =
    if (cutover == Together || applied.waiting.isEmpty) until
    else {
      val from = at.of(cluster)
      val held = until.offsets.flatMap { case (p, offset) =>
        val wait = applied.waiting.getOrElse(ClusterTopic(cluster, p.topic), Set.empty[ClusterTopic])
        if (wait.exists(isOpen(applied, at, _, if (cutover == Partition) Some(p.partition) else None)))
          from.get(p).map(p -> _)
        else Some(p -> offset)
      }
      until.copy(
        offsets = held,
        generations = until.generations.filter { case (topic, _) => held.keysIterator.exists(_.topic == topic) }
      )
    }

  /** Whether something of a topic that is drained is still to be read. */
  private def isOpen(
      applied: AppliedMetadata,
      at: DynamicPosition,
      topic: ClusterTopic,
      partition: Option[Int]
  ): Boolean = {
    val own = at.of(topic.cluster)
    applied.leaving.get(topic).map(_.plan).exists {
      case LeavingPlan.Drain(ends) =>
        def left(p: LogPartition, end: Long) = partition.forall(_ == p.partition) && own.get(p).forall(_ < end)
        ends.offsets.exists { case (p, end) => left(p, end) }
      case _: LeavingPlan.Until | LeavingPlan.Ask => true
      case LeavingPlan.Keep                       => false
    }
  }
}
