// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.identity

import splice.kafka.internal.split.KafkaPosition
import splice.source.LogPartition
import splice.source.errors.CheckpointErrors

/** The cluster and the topics of the checkpoint's offsets, and the generations of topics. Immutable.
  *
  * @param firstCluster
  *   the first id of the cluster
  * @param cluster
  *   the last id of the cluster
  * @param first
  *   the first owner of each topic's offsets
  * @param later
  *   the generations of each topic, without the first
  * @param hasGenerations
  *   true if each position stores the generations of its topics. False if Spark's Kafka source may have written a
  *   position
  */
final private[splice] case class Identities(
    firstCluster: Option[String] = None,
    cluster: Option[String] = None,
    first: Map[String, TopicOwner] = Map.empty,
    later: Map[String, Vector[Generation]] = Map.empty,
    hasGenerations: Boolean = false
) {

  def isEmpty: Boolean = cluster.isEmpty && first.isEmpty

  /** The last generation of a topic; 0 if the topic was never recreated. */
  def latest(topic: String): Int = later.get(topic).fold(0)(_.last.number)

  /** The last generations of the topics that have more than one generation. */
  def renewed: Iterable[Generation] = later.valuesIterator.map(_.last).to(Iterable)

  def generation(topic: String, number: Int): Option[Generation] = later.get(topic).flatMap(_.find(_.number == number))

  /** The owner of a topic's offsets in a generation, with the ids that are available. */
  def owner(topic: String, number: Int): TopicOwner =
    if (number == 0)
      TopicOwner(first.get(topic).flatMap(_.cluster).orElse(firstCluster), first.get(topic).flatMap(_.id))
    else
      generation(topic, number).map(_.owner).getOrElse(
        throw CheckpointErrors.missingEntry(s"The side-log entry of topic $topic, generation $number,")
      )

  /** The owner of a topic's latest generation. */
  def owner(topic: String): TopicOwner = owner(topic, latest(topic))

  /** The later generations that continue the offsets of a generation, because the topic left the position and returned
    * with the same id.
    */
  def continued(topic: String, number: Int): Seq[Int] =
    later.getOrElse(topic, Vector.empty).dropWhile(_.number <= number).takeWhile { next =>
      // The position before a recreation is stored without its generation.
      next.was.generation(topic) == next.number - 1 && next.owner.isSame(owner(topic, next.number - 1))
    }.map(_.number)

  /** Values by partition and generation, which also apply to the generations that continue a generation. */
  def continued[A](all: Map[(LogPartition, Int), A]): Iterator[((LogPartition, Int), A)] =
    for {
      ((p, number), value) <- all.iterator
      next                 <- continued(p.topic, number)
    } yield (p, next) -> value

  /** True if a topic is not the latest generation. A broker with outdated metadata may still return an earlier
    * generation, for which the result is false.
    */
  def isOther(topic: String, now: TopicOwner): Boolean = {
    val last   = latest(topic)
    val behind = now.sameCluster(owner(topic)) && (0 until last).exists(n => owner(topic, n).is(now))
    !owner(topic).is(now) && !behind
  }

  /** The position with the generations to which its offsets belong.
    *
    * Spark's Kafka source stores no generations. A topic without a generation therefore gets the last generation to
    * which its offsets certainly belong, because the offsets exceed the ends of all previous generations. A position of
    * a micro-batch never exceeds the end of its generation. A later generation therefore does not change the meaning of
    * such a position.
    *
    * A position that an open-ended batch of many clusters reached may exceed this end, because a worker may store a
    * generation while tasks still read the previous generation. These positions always store their generations.
    *
    * A generation without an entry counts as the latest generation, because the side log was deleted. A later
    * generation of the same number changes the meaning of such a position only.
    */
  def meant(at: KafkaPosition): KafkaPosition = {
    val unknown = at.generations.filter { case (topic, generation) => generation > latest(topic) }
    val known   = unknown.keysIterator.foldLeft(at)((position, topic) => position.as(topic, latest(topic)))
    if (hasGenerations) known
    else later.foldLeft(known) { case (position, (topic, generations)) =>
      if (position.generation(topic) > 0 || unknown.contains(topic)) position
      else generations.takeWhile(isBeyond(position, _)).lastOption.fold(position)(g => position.as(topic, g.number))
    }
  }

  /** True if an offset of the topic is greater than the end of the previous generation. */
  private def isBeyond(position: KafkaPosition, next: Generation): Boolean =
    next.was.hasTopic(next.topic) &&
      position.of(next.topic).exists { case (p, offset) => next.was.get(p).forall(_ < offset) }

  def including(more: LogIdentity): Identities = {
    val now = more.clusterId.orElse(cluster)
    copy(
      firstCluster = firstCluster.orElse(now),
      cluster = now,
      first = first ++ more.topicIds.map { case (topic, id) => topic -> TopicOwner(now, Some(id)) }
    )
  }

  def including(added: Generation): Identities =
    copy(later = later.updated(added.topic, later.getOrElse(added.topic, Vector.empty) :+ added))
}
