// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.split

import scala.collection.immutable.SortedMap

import splice.kafka.options.PartitionJson
import splice.source.{CheckpointErrors, LogPartition, Progress}

/** The next offset to be read of every partition; the same JSON as Spark's own Kafka source writes, so checkpoints go both ways. */
final private[splice] case class KafkaPosition(offsets: SortedMap[LogPartition, Long]) extends Progress {

  override lazy val json: String = PartitionJson.write(offsets)

  override def precedes(later: Progress): Boolean = later match {
    case KafkaPosition(others) =>
      // Positions of one query have the same partitions in most cases, and walking both is several times faster than looking up.
      if (others.size == offsets.size && offsets.keysIterator.sameElements(others.keysIterator))
        offsets.valuesIterator.zip(others.valuesIterator).forall { case (before, after) => before <= after }
      else offsets.forall { case (p, offset) => others.get(p).forall(offset <= _) }
    case _ => false
  }

  def get(partition: LogPartition): Option[Long] = offsets.get(partition)

  def ++(more: Iterable[(LogPartition, Long)]): KafkaPosition = KafkaPosition(offsets ++ more)
}

private[splice] object KafkaPosition {

  val Empty: KafkaPosition = KafkaPosition(SortedMap.empty)

  def of(offsets: Iterable[(LogPartition, Long)]): KafkaPosition = KafkaPosition(SortedMap.from(offsets))

  /** @throws splice.source.SpliceException when the text is no position of a Kafka source */
  def read(json: String): KafkaPosition = PartitionJson.read(json).filter(_.values.forall(_ >= 0)) match {
    case Some(offsets) => KafkaPosition(offsets)
    case None          => throw CheckpointErrors.foreign(
        s"The offset $json",
        "offsets per topic and partition, such as {\"orders\":{\"0\":5}}"
      )
  }

  /** Takes a position that came as any progress.
    *
    * @throws splice.source.SpliceException
    *   when it is another source's
    */
  def from(progress: Progress): KafkaPosition = progress match {
    case own: KafkaPosition => own
    case other              => read(other.json)
  }
}
