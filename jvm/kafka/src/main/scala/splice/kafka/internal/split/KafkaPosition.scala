// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.split

import scala.collection.immutable.SortedMap

import splice.source.errors.CheckpointErrors
import splice.source.{LogPartition, Position}

/** The next offset of every partition. The JSON has the format of Spark's Kafka source, so each source can use a
  * checkpoint of the other source.
  *
  * A topic that is read after its recreation has a later generation, since its offsets begin at 0 again. In JSON, the
  * number of a partition has one leading zero per generation. Other readers parse the same number.
  *
  * @param generations
  *   the generations of topics with a later generation than the first, which is 0
  */
final private[splice] case class KafkaPosition(
    offsets: SortedMap[LogPartition, Long],
    generations: SortedMap[String, Int] = SortedMap.empty
) extends Position {

  override lazy val json: String = PartitionJson.write(offsets, generations)

  override def equals(other: Any): Boolean = other match {
    case that: KafkaPosition => (this eq that) ||
      offsets == that.offsets && (generations == that.generations || json == that.json)
    case _ => super.equals(other)
  }

  override def hashCode: Int = super.hashCode

  override def precedes(later: Position): Boolean = later match {
    case that @ KafkaPosition(others, otherGenerations) if generations == otherGenerations =>
      // Positions of one query have the same partitions in most cases. A comparison in order is several times faster
      // than map lookups.
      if (others.size == offsets.size && offsets.keysIterator.sameElements(others.keysIterator))
        offsets.valuesIterator.zip(others.valuesIterator).forall { case (before, after) => before <= after }
      else offsets.forall { case (p, offset) => that.isAtLeast(p, offset) }
    case that: KafkaPosition =>
      offsets.forall { case (p, offset) =>
        val (before, after) = (generation(p.topic), that.generation(p.topic))
        if (before == after) that.isAtLeast(p, offset) else before < after || !that.hasTopic(p.topic)
      }
    case _ => false
  }

  // A topic never loses a partition, but a position may lose a topic.
  private def isAtLeast(partition: LogPartition, offset: Long): Boolean =
    get(partition).fold(!hasTopic(partition.topic))(offset <= _)

  def get(partition: LogPartition): Option[Long] = offsets.get(partition)

  /** The generation of the topic in this position. */
  def generation(topic: String): Int = generations.getOrElse(topic, 0)

  /** The JSON if it is short, else the numbers of partitions, topics and offsets. */
  def summary: String =
    if (offsets.sizeIs <= KafkaPosition.Short && json.length <= 80) json
    else s"${offsets.size} partitions of ${topics.size} topics, ${offsets.valuesIterator.sum} offsets"

  lazy val topics: Set[String] = {
    val names = Set.newBuilder[String]
    // The partitions of a topic are adjacent.
    val _ = offsets.keysIterator.foldLeft("") { (last, p) =>
      if (p.topic != last) names += p.topic
      p.topic
    }
    names.result()
  }

  def hasTopic(topic: String): Boolean =
    offsets.rangeFrom(LogPartition(topic, 0)).headOption.exists(_._1.topic == topic)

  /** True if an offset of a topic is before its offset in another position, or if the other position lacks its
    * partition. Compares no generations.
    */
  def isBefore(other: KafkaPosition, topic: String): Boolean =
    of(topic).exists { case (p, offset) => other.get(p).forall(offset < _) }

  /** The partitions of one topic. */
  def of(topic: String): SortedMap[LogPartition, Long] =
    offsets.rangeFrom(LogPartition(topic, 0)).takeWhile(_._1.topic == topic)

  def ++(more: Iterable[(LogPartition, Long)]): KafkaPosition =
    if (more.isEmpty) this else copy(offsets = offsets ++ more)

  /** A position with the partitions of both positions. The topics differ. */
  def and(other: KafkaPosition): KafkaPosition =
    KafkaPosition(offsets ++ other.offsets, generations ++ other.generations)

  /** This position without all other topics. */
  def only(topic: String): KafkaPosition = KafkaPosition(of(topic), generations.filter(_._1 == topic))

  /** This position without a topic. */
  def without(topic: String): KafkaPosition = KafkaPosition(offsets -- of(topic).keySet, generations - topic)

  /** This position with new offsets of a topic, in this generation. */
  def renewed(topic: String, generation: Int, starts: Iterable[(LogPartition, Long)]): KafkaPosition =
    (without(topic) ++ starts).as(topic, generation)

  /** These offsets with the generations of another position. */
  def like(other: KafkaPosition): KafkaPosition = copy(generations = other.generations.filter(g => hasTopic(g._1)))

  /** These offsets, with a topic in this generation. */
  def as(topic: String, generation: Int): KafkaPosition =
    copy(generations = if (generation == 0) generations - topic else generations.updated(topic, generation))
}

private[splice] object KafkaPosition {

  // The greatest number of partitions for which `summary` may return the JSON.
  private val Short = 20

  val Empty: KafkaPosition = KafkaPosition(SortedMap.empty)

  def of(offsets: Iterable[(LogPartition, Long)]): KafkaPosition = KafkaPosition(SortedMap.from(offsets))

  /** @throws splice.source.errors.SpliceException when the text is not a valid position of a Kafka source */
  def read(json: String): KafkaPosition = PartitionJson.readGenerations(json).filter(_._1.values.forall(_ >= 0)) match {
    case Some((offsets, generations)) => KafkaPosition(offsets, generations)
    case None                         => throw CheckpointErrors.foreign(
        s"The offset $json",
        "offsets per topic and partition, such as {\"orders\":{\"0\":5}}"
      )
  }
}
