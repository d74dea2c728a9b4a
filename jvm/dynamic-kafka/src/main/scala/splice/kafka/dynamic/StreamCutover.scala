// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic

import java.time.{Duration, Instant}

import scala.collection.immutable.SortedMap

import splice.kafka.dynamic.internal.split.ClusterTopic
import splice.kafka.internal.split.KafkaPosition
import splice.source.LogPartition

/** A place in the topics of a stream, at which reading starts or stops. A [[StreamCutover]] is one as well. */
sealed trait StreamPlace extends Product with Serializable

object StreamPlace {

  /** The first record of each partition. Only a start can be there. */
  case object Earliest extends StreamPlace

  /** The end of each partition when the start or the stop takes effect. */
  case object Latest extends StreamPlace

  private val Last = Instant.parse("9999-12-31T23:59:59Z")

  /** Why a place is not valid, if it is not. Records have no times before 1970, and no negative offsets. */
  private[dynamic] def refusal(place: StreamPlace): Option[String] = place match {
    case StreamCutover.At(time, _) if time.isBefore(Instant.EPOCH) || time.isAfter(Last) =>
      Some(s"'$time' is not a valid time. Use a time from ${Instant.EPOCH} to $Last")
    case StreamCutover.At(_, lateness) if lateness.isNegative =>
      Some(s"'$lateness' is not a valid lateness. Use a duration of 0 or more")
    case StreamCutover.Offsets(clusters) => (for {
        (cluster, offsets) <- clusters.iterator
        (p, offset)        <- offsets.iterator if offset < 0 || p.partition < 0
      } yield s"'$offset' is not a valid offset of partition $p of cluster '$cluster'. Use partitions and offsets of 0 or more")
        .nextOption()
    case _ => None
  }

  /** Why a start or a stop does not fit the topics of its stream, if it does not. A topic without offsets would stop where it is. */
  private[dynamic] def misfit(place: StreamPlace, stream: KafkaStream, isStop: Boolean): Option[String] = place match {
    case StreamCutover.Offsets(clusters) =>
      val topics  = for { (cluster, own) <- stream.topics.toSeq; topic <- own } yield s"$cluster/$topic"
      val named   = for { (cluster, own) <- clusters.toSeq; topic <- own.keySet.map(_.topic) } yield s"$cluster/$topic"
      val unknown = named.diff(topics) ++ clusters.keys.filterNot(stream.topics.contains)
      def without = if (isStop) topics.diff(named) else Nil
      unknown.headOption.map(name =>
        s"$name is not a topic of stream '${stream.name}'. Use ${topics.mkString(", ")}"
      ).orElse(without.headOption.map(topic => s"a stop needs offsets of every topic, and $topic has none"))
    case _ => None
  }
}

/** Where a stream goes from topics that it leaves to those that it moves to, when both hold the same records.
  *
  * It is of use only in the answer that takes the ones away and names the others.
  */
sealed trait StreamCutover extends StreamPlace

object StreamCutover {

  /** How late records may come by default. */
  val Lateness: Duration = Duration.ofMinutes(1)

  /** Each partition at its first record whose timestamp is not before a time.
    *
    * @param lateness
    *   how long after that time a partition without such a record is given for it, before its end is taken instead
    */
  final case class At(time: Instant, lateness: Duration = Lateness) extends StreamCutover {

    // Records have no finer time.
    private[dynamic] def millis: Long = time.plusNanos(999999L).toEpochMilli
  }

  /** Each partition at an offset of its own: where those of topics that are left end, which is excluded, and where those of topics
    * that the stream moves to begin.
    *
    * @param clusters
    *   by the name of the cluster
    */
  final case class Offsets(clusters: SortedMap[String, SortedMap[LogPartition, Long]]) extends StreamCutover {

    private[dynamic] def of(topic: ClusterTopic): KafkaPosition =
      KafkaPosition(clusters.getOrElse(topic.cluster, SortedMap.empty[LogPartition, Long])).only(topic.topic)
  }
}
