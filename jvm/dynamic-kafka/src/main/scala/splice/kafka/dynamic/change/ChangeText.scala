// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.change

import splice.kafka.dynamic.split.{ClusterTopic, DynamicPosition}
import splice.kafka.split.KafkaPosition

/** What a change changed, in words, for the log and the history.
  *
  * @param event
  *   a few words
  * @param names
  *   of the clusters or topics that it happened to, sorted
  */
final private[dynamic] case class ChangeText(event: String, names: Seq[String]) {
  override def toString: String = s"$event: ${names.mkString(", ")}"
}

private[dynamic] object ChangeText {

  def apply(before: AppliedMetadata, now: AppliedMetadata): Seq[ChangeText] = {
    val (had, has) = (before.streamOf.keySet, now.streamOf.keySet)
    val returned   = (has -- had).filter(t => before.leaving.contains(t) || before.tombstones.contains(t))
    val added      = has -- had -- returned
    val removed    = had -- has
    val finished   = (now.tombstones.keySet -- before.tombstones.keySet) -- removed
    val renewed    = now.clusters.keys.filter(c => before.clusters.get(c).exists(_ != now.clusters(c)))
    val forgotten  = now.tombstones.collect {
      case (t, left) if left.position.isEmpty && before.tombstones.get(t).exists(_.position.nonEmpty) => t
    }
    val waiting = now.leaving.filter { case (topic, leaving) =>
      leaving.unavailable.nonEmpty && before.leaving.get(topic).forall(_.unavailable.isEmpty)
    }
    Seq(
      list("clusters added", now.clusters.keySet -- before.clusters.keySet),
      list("clusters gone", before.clusters.keySet -- now.clusters.keySet),
      list("clusters with other properties", renewed),
      topics("topics added", added),
      topics("topics that came back", returned),
      topics("topics removed", removed),
      topics("topics read to their end", finished),
      topics("topics that cannot be drained while their clusters are unavailable", waiting.keys),
      topics("topics forgotten", forgotten),
      topics("topics that a stream goes over to at a time", now.begins.keySet -- before.begins.keySet),
      topics("topics whose time has come", (before.begins.keySet -- now.begins.keySet).intersect(has))
    ).flatten
  }

  /** Warnings about removed topics whose remaining records are not read. */
  def givenUp(before: AppliedMetadata, now: AppliedMetadata): Seq[String] = for {
    (topic, leaving) <- before.leaving.toSeq
    left             <- now.tombstones.get(topic).flatMap(_.position)
    unread           <- unread(leaving.plan, left)
  } yield s"Splice abandons the removed topic $topic, because its cluster does not respond: $unread. If the topic " +
    "is added to the metadata again within 'removedRetention', Splice resumes it at its position."

  /** Warnings about partitions that were deleted or recreated before they were drained. */
  def gone(before: AppliedMetadata, now: AppliedMetadata, position: DynamicPosition): Seq[String] = for {
    (topic, Leaving(_, _, LeavingPlan.Drain(ends), _)) <- before.leaving.toSeq
    left                                               <- now.leaving.get(topic).map(_.plan).toSeq.collect {
      case LeavingPlan.Drain(left) => left
    }
    lost = KafkaPosition(ends.offsets -- left.offsets.keySet) if lost.offsets.nonEmpty
  } yield s"Splice ends the drain of the removed topic $topic early, because partitions " +
    s"${lost.offsets.keys.map(_.partition).mkString(", ")} were deleted or recreated: " +
    s"${unread(LeavingPlan.Drain(lost), position.of(topic.cluster)).getOrElse("no row is missing")}."

  private def unread(plan: LeavingPlan, left: KafkaPosition): Option[String] = plan match {
    case LeavingPlan.Keep        => None
    case LeavingPlan.Ask         => Some("the number of unread rows is unknown")
    case LeavingPlan.Until(at)   => Some(s"the number of unread rows before ${at.time} is unknown")
    case LeavingPlan.Drain(ends) =>
      // A partition without a position was never read, and its first offset is unknown here.
      val rows  = ends.offsets.map { case (p, end) => math.max(end - left.get(p).getOrElse(0L), 0L) }.sum
      val exact = ends.offsets.keysIterator.forall(left.offsets.contains)
      if (rows > 0) Some(s"${if (exact) "" else "up to "}$rows rows are not read") else None
  }

  private def topics(what: String, some: Iterable[ClusterTopic]): Option[ChangeText] = list(what, some.map(_.toString))

  private def list(what: String, some: Iterable[String]): Option[ChangeText] =
    if (some.isEmpty) None else Some(ChangeText(what, some.toSeq.sorted))
}
