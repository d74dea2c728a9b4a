// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.change

import splice.kafka.dynamic.change.TopicState._
import splice.kafka.dynamic.split.{ClusterTopic, DynamicPosition}
import splice.kafka.split.KafkaPosition

/** Text about a change for the log and the history.
  *
  * @param event
  *   a few words
  * @param names
  *   of the clusters or topics, sorted
  */
final private[dynamic] case class ChangeText(event: String, names: Seq[String]) {
  override def toString: String = s"$event: ${names.mkString(", ")}"
}

private[dynamic] object ChangeText {

  def apply(before: AppliedMetadata, now: AppliedMetadata): Seq[ChangeText] = {
    val (had, has)           = (before.streamOf.keySet, now.streamOf.keySet)
    def was(t: ClusterTopic) = before.topics.get(t)
    def is(t: ClusterTopic)  = now.topics.get(t)
    val returned             = (has -- had).filter(was(_).nonEmpty)
    val finished             = now.topics.keySet.filter(t => is(t).exists(isRemoved) && was(t).exists(isDraining))
    val renewed              =
      now.clusters.keys.filter(c => before.clusters.get(c).exists(_.properties != now.clusters(c).properties))
    val waiting = now.draining.filter { case (topic, draining) =>
      draining.unavailable.nonEmpty && before.draining.get(topic).forall(_.unavailable.isEmpty)
    }
    Seq(
      list("clusters added", now.clusters.keySet -- before.clusters.keySet),
      list("clusters gone", before.clusters.keySet -- now.clusters.keySet),
      list("clusters with other properties", renewed),
      list("clusters set active", now.clusters.keys.filter(c => before.clusters.contains(c) && isSet(c, before, now))),
      list("clusters set inactive", now.clusters.keys.filter(isSet(_, now, before))),
      topics("topics added", has -- had -- returned),
      topics("topics that came back", returned),
      topics("topics removed", had -- has),
      topics("topics read to their end", finished),
      topics("topics that cannot be drained while their clusters are unavailable", waiting.keys),
      topics("topics forgotten", now.topics.keys.filter(t => is(t).contains(Gone) && was(t).exists(isRemoved))),
      topics("topics that a stream goes over to at a time", timed(now) -- timed(before)),
      topics("topics whose time has come", (timed(before) -- timed(now)).intersect(has))
    ).flatten
  }

  /** Whether a cluster is inactive in one of two states only. */
  private def isSet(cluster: String, inactive: AppliedMetadata, active: AppliedMetadata): Boolean =
    !inactive.isActive(cluster) && active.isActive(cluster)

  private def timed(at: AppliedMetadata): Set[ClusterTopic] =
    at.waiting.collect { case (topic, is) if is.time.nonEmpty => topic }.toSet

  private def isRemoved(is: TopicState): Boolean = is match {
    case _: Removed => true
    case _          => false
  }

  private def isDraining(is: TopicState): Boolean = is match {
    case _: Draining => true
    case _           => false
  }

  /** Warnings about removed topics whose remaining records are not read. */
  def abandoned(before: AppliedMetadata, now: AppliedMetadata): Seq[String] = for {
    (topic, draining) <- before.draining.toSeq
    left              <- now.topics.get(topic).toSeq.collect { case is: Removed => is.position }
    unread            <- unread(draining.bound, left)
  } yield s"Splice abandons the removed topic $topic, because its cluster does not respond: $unread. If the topic " +
    "is added to the metadata again within 'removedRetention', Splice resumes it at its position."

  /** Warnings about partitions that were deleted or recreated before they were drained. */
  def deleted(before: AppliedMetadata, now: AppliedMetadata, position: DynamicPosition): Seq[String] = for {
    (topic, draining) <- before.draining.toSeq
    ends              <- Seq(draining.bound).collect { case Bound.Ends(ends) => ends }
    left              <- now.draining.get(topic).map(_.bound).toSeq.collect { case Bound.Ends(left) => left }
    lost = KafkaPosition(ends.offsets -- left.offsets.keySet) if lost.offsets.nonEmpty
  } yield s"Splice ends the drain of the removed topic $topic early, because partitions " +
    s"${lost.offsets.keys.map(_.partition).mkString(", ")} were deleted or recreated: " +
    s"${unread(Bound.Ends(lost), position.of(topic.cluster)).getOrElse("no row is missing")}."

  private def unread(bound: Bound, left: KafkaPosition): Option[String] = bound match {
    case Bound.Asked      => Some("the number of unread rows is unknown")
    case Bound.At(time)   => Some(s"the number of unread rows before ${time.time} is unknown")
    case Bound.Ends(ends) =>
      // A partition without a position was never read, and its first offset is unknown here.
      val rows  = ends.offsets.map { case (p, end) => math.max(end - left.get(p).getOrElse(0L), 0L) }.sum
      val exact = ends.offsets.keysIterator.forall(left.offsets.contains)
      if (rows > 0) Some(s"${if (exact) "" else "up to "}$rows rows are not read") else None
  }

  private def topics(what: String, some: Iterable[ClusterTopic]): Option[ChangeText] = list(what, some.map(_.toString))

  private def list(what: String, some: Iterable[String]): Option[ChangeText] =
    if (some.isEmpty) None else Some(ChangeText(what, some.toSeq.sorted))
}
