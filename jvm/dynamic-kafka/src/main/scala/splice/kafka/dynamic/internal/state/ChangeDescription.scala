// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.state

import splice.kafka.Place
import splice.kafka.dynamic.internal.split.ClusterTopic
import splice.kafka.dynamic.internal.state.TopicState._

/** Text about a change for the log and the history.
  *
  * @param event
  *   name of the event
  * @param names
  *   names of the clusters or topics, sorted
  */
final private[dynamic] case class ChangeDescription(event: String, names: Seq[String]) {
  override def toString: String = s"$event: ${names.mkString(", ")}"
}

private[dynamic] object ChangeDescription {

  def apply(before: AppliedMetadata, now: AppliedMetadata): Seq[ChangeDescription] = {
    val (had, has)           = (before.streamOf.keySet, now.streamOf.keySet)
    def was(t: ClusterTopic) = before.topics.get(t)
    def is(t: ClusterTopic)  = now.topics.get(t)
    val returned             = (has -- had).filter(was(_).nonEmpty)
    val lost                 = newlyAbandoned(before, now)
    val finished             = now.topics.keySet.filter(t => is(t).exists(isRemoved) && was(t).exists(isDraining))
    val drained              = finished -- lost.map(_._1) -- has
    val (ended, read)        = (drained.map(_.cluster), has.map(_.cluster))
    val idle                 = (before.read.keySet -- now.read.keySet).filter(c =>
      now.clusters.contains(c) && ended(c) && !read(c)
    )
    val resumed =
      had.intersect(has).filter(t => was(t).exists(is => isRemoved(is) || isDraining(is)) && is(t).exists(isReading))
    val renewed =
      now.clusters.keys.filter(c => before.clusters.get(c).exists(!_.connectsAs(now.clusters(c))))
    val delayed = unavailable(now) -- unavailable(before)
    val applied = now.generations.keys.filter(s => before.generations.get(s) != now.generations.get(s))
    Seq(
      list("streamApplied", applied),
      list("clusterAdded", now.clusters.keySet -- before.clusters.keySet),
      list("clusterRemoved", before.clusters.keySet -- now.clusters.keySet),
      list("clusterDrained", idle),
      list("clusterChanged", renewed),
      list(
        "clusterLimited",
        now.clusters.keys.filter(c => before.clusters.get(c).exists(_.limits != now.clusters(c).limits))
      ),
      list("clusterActivated", now.clusters.keys.filter(c => before.clusters.contains(c) && isSet(c, before, now))),
      list("clusterDeactivated", now.clusters.keys.filter(isSet(_, now, before))),
      topics("topicAdded", has -- had -- returned),
      topics("topicReturned", returned),
      topics("topicRemoved", had -- has),
      topics("topicDrained", drained),
      topics("topicStopped", finished.intersect(has)),
      topics("topicResumed", resumed),
      list("topicAbandoned", abandoned(before, now)),
      topics("topicDrainDelayed", delayed),
      topics("topicForgotten", now.topics.keys.filter(t => is(t).contains(Gone) && was(t).exists(isRemoved))),
      topics("topicCutoverScheduled", timed(now) -- timed(before)),
      topics("topicCutoverDone", (timed(before) -- timed(now)).intersect(has))
    ).flatten
  }

  /** Returns the topics that a change abandons, each with its unread rows. */
  def abandoned(before: AppliedMetadata, now: AppliedMetadata): Seq[String] =
    newlyAbandoned(before, now).map { case (topic, rows) => s"$topic: ${rows.text}" } ++
      neverBegun(before, now).map(t => s"$t: $NeverBegun")

  /** Returns true if a cluster is inactive in the first state and active in the second state. */
  private def isSet(cluster: String, inactive: AppliedMetadata, active: AppliedMetadata): Boolean =
    !inactive.isActive(cluster) && active.isActive(cluster)

  /** Returns the removed topics whose cluster is unavailable. */
  private def unavailable(at: AppliedMetadata): Set[ClusterTopic] = at.topics.collect {
    case (topic, is: Draining) if is.unavailable.nonEmpty => topic
    case (topic, is: Pending) if is.unavailable.nonEmpty  => topic
  }.toSet

  private def timed(at: AppliedMetadata): Set[ClusterTopic] =
    at.waiting.collect { case (topic, is) if is.time.nonEmpty => topic }.toSet

  private def isRemoved(is: TopicState): Boolean = is match {
    case _: Removed => true
    case _          => false
  }

  private def isReading(is: TopicState): Boolean = is match {
    case _: Reading => true
    case _          => false
  }

  private def isDraining(is: TopicState): Boolean = is match {
    case _: Draining | _: Pending => true
    case _                        => false
  }

  /** Returns warnings about rows of removed topics that Splice does not read, and about starts that have no effect. */
  def warnings(before: AppliedMetadata, now: AppliedMetadata): Seq[String] =
    lateStarts(before, now).map { stream =>
      s"The metadata changes the start of stream '$stream'. The change has no effect on topics that have begun."
    } ++ newlyAbandoned(before, now).map { case (topic, rows) =>
      s"Splice abandons the removed topic $topic, and ${rows.text}. If the topic is added to the metadata again within " +
        "'removedRetention', Splice resumes the topic at the last position."
    } ++ neverBegun(before, now).map(t => s"Splice reads no row of the topic $t: $NeverBegun.")

  private val NeverBegun = "the metadata removed the topic before the cluster returned the start of the topic"

  // A topic that starts at the end of its log has no rows before its cluster returns the start.
  private def neverBegun(before: AppliedMetadata, now: AppliedMetadata): Seq[ClusterTopic] =
    before.waiting.toSeq.collect {
      case (t, is)
          if is.time.isEmpty && now.topics.get(t) == is.before && !before.startOf(t).contains(Place.Latest) => t
    }

  private def lateStarts(before: AppliedMetadata, now: AppliedMetadata): Seq[String] = for {
    stream <- now.streams.values.toSeq
    was    <- before.streams.get(stream.name) if stream.start.nonEmpty && stream.start != was.start
    if AppliedMetadata.streamOf(Seq(stream)).keys.exists(t => before.streamOf.contains(t) && !now.waiting.contains(t))
  } yield stream.name

  private def newlyAbandoned(before: AppliedMetadata, now: AppliedMetadata): Seq[(ClusterTopic, Abandoned)] =
    now.topics.toSeq.flatMap { case (topic, is) =>
      is.abandoned.filterNot(before.topics.get(topic).flatMap(_.abandoned).contains(_)).map(topic -> _)
    }

  private def topics(event: String, members: Iterable[ClusterTopic]): Option[ChangeDescription] =
    list(event, members.map(_.toString))

  private def list(event: String, names: Iterable[String]): Option[ChangeDescription] =
    if (names.isEmpty) None else Some(ChangeDescription(event, names.toSeq.sorted))
}
