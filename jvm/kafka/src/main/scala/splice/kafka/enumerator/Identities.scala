// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.enumerator

import splice.kafka.split.KafkaPosition
import splice.source.CheckpointErrors

/** The cluster and the topics that the checkpoint's offsets belong to, and the generations of topics. Immutable.
  *
  * @param firstCluster
  *   the first id of the cluster
  * @param cluster
  *   its last id
  * @param first
  *   the first owner of each topic's offsets
  * @param later
  *   the generations of each topic, without the first
  */
final private[splice] case class Identities(
    firstCluster: Option[String] = None,
    cluster: Option[String] = None,
    first: Map[String, Owner] = Map.empty,
    later: Map[String, Vector[Generation]] = Map.empty
) {

  def isEmpty: Boolean = cluster.isEmpty && first.isEmpty

  /** The last generation of a topic; 0 for one that was never recreated. */
  def latest(topic: String): Int = later.get(topic).fold(0)(_.last.number)

  /** The last generations of the topics that have more than one. */
  def renewed: Iterable[Generation] = later.valuesIterator.map(_.last).to(Iterable)

  def generation(topic: String, number: Int): Option[Generation] = later.get(topic).flatMap(_.find(_.number == number))

  /** The owner of a topic's offsets of a generation, as far as it is known. */
  def owner(topic: String, number: Int): Owner =
    if (number == 0) Owner(first.get(topic).flatMap(_.cluster).orElse(firstCluster), first.get(topic).flatMap(_.id))
    else
      generation(topic, number).map(_.owner).getOrElse(
        throw CheckpointErrors.missingEntry(s"The side-log entry of topic $topic, generation $number,")
      )

  /** The owner of a topic's latest generation. */
  def owner(topic: String): Owner = owner(topic, latest(topic))

  /** Whether a topic is another one than its latest generation. A broker that is behind may still return an earlier one. */
  def isOther(topic: String, now: Owner): Boolean = {
    val last   = latest(topic)
    val behind = now.sameCluster(owner(topic)) && (0 until last).exists(n => owner(topic, n).is(now))
    !owner(topic).is(now) && !behind
  }

  /** A position with the generations that its numbers belong to.
    *
    * Spark's own source writes no generations. So a topic without one is of the last generation that its offsets are certain to
    * belong to: they are beyond the ends of all generations before it. A position that Splice wrote is never beyond the end of its
    * generation, so a generation that is added later does not change its meaning.
    *
    * A generation without an entry is the latest one: the side log was deleted since. Only for such a position a later generation of
    * the same number changes the meaning.
    */
  def meant(at: KafkaPosition): KafkaPosition = {
    val unknown = at.generations.filter { case (topic, generation) => generation > latest(topic) }
    val known   = unknown.keysIterator.foldLeft(at)((position, topic) => position.as(topic, latest(topic)))
    later.foldLeft(known) { case (position, (topic, generations)) =>
      if (position.generation(topic) > 0 || unknown.contains(topic)) position
      else generations.takeWhile(isBeyond(position, _)).lastOption.fold(position)(g => position.as(topic, g.number))
    }
  }

  /** Whether a topic's offsets are beyond the end of the generation before this one. */
  private def isBeyond(position: KafkaPosition, next: Generation): Boolean =
    next.was.hasTopic(next.topic) &&
      position.of(next.topic).exists { case (p, offset) => next.was.get(p).forall(_ < offset) }

  def including(more: LogIdentity): Identities = {
    val now = more.clusterId.orElse(cluster)
    copy(
      firstCluster = firstCluster.orElse(now),
      cluster = now,
      first = first ++ more.topicIds.map { case (topic, id) => topic -> Owner(now, Some(id)) }
    )
  }

  def including(one: Generation): Identities =
    copy(later = later.updated(one.topic, later.getOrElse(one.topic, Vector.empty) :+ one))
}
