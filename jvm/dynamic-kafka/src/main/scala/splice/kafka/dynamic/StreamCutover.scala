// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic

import java.time.{Duration, Instant}

import scala.collection.immutable.SortedMap

import splice.kafka.dynamic.internal.split.ClusterTopic
import splice.kafka.internal.split.KafkaPosition
import splice.source.LogPartition

/** Position in the topics of a stream at which reading starts or stops. A [[StreamCutover]] is also such a position. */
sealed trait StreamPlace extends Product with Serializable

object StreamPlace {

  /** The first record of each partition. Valid only as a start. */
  case object Earliest extends StreamPlace

  /** The end of each partition when the start or the stop takes effect. */
  case object Latest extends StreamPlace

  private val Last = Instant.parse("9999-12-31T23:59:59Z")

  /** Returns the reason why a position is not valid, or None if the position is valid. Records have no timestamps
    * before 1970 and no negative offsets.
    */
  private[dynamic] def rejection(place: StreamPlace): Option[String] = place match {
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

  /** Returns the reason why a cutover does not match the topics of its stream; None if the cutover matches. A cutover by
    * offsets also names topics that the stream leaves.
    */
  private[dynamic] def foreign(cutover: StreamPlace, stream: KafkaStream): Option[String] = cutover match {
    case StreamCutover.Offsets(clusters) =>
      val isOfStream = clusters.exists { case (cluster, all) =>
        all.keys.exists(p => stream.topics.get(cluster).exists(_(p.topic)))
      }
      Option.unless(isOfStream)(s"the entry names no topic of stream '${stream.name}'")
    case _ => None
  }

  /** Returns the reason why a start or a stop does not match the topics of its stream; None if the place matches. A
    * stop needs offsets of every topic, because a topic without offsets would stop at its current position.
    */
  private[dynamic] def misfit(place: StreamPlace, stream: KafkaStream, isStop: Boolean): Option[String] = place match {
    case StreamCutover.Offsets(clusters) =>
      val topics = for { (cluster, names) <- stream.topics.toSeq; topic <- names } yield s"$cluster/$topic"
      val named  = for {
        (cluster, offsets) <- clusters.toSeq
        topic              <- offsets.keySet.map(_.topic)
      } yield s"$cluster/$topic"
      val unknown = named.diff(topics) ++ clusters.keys.filterNot(stream.topics.contains)
      def without = if (isStop) topics.diff(named) else Nil
      unknown.headOption.map(name =>
        s"$name is not a topic of stream '${stream.name}'. Use ${topics.mkString(", ")}"
      ).orElse(without.headOption.map(topic => s"a stop needs offsets of every topic, and $topic has no offsets"))
    case _ => None
  }
}

/** Position at which a stream moves from removed topics to new topics, if all these topics contain the same records.
  *
  * A cutover has an effect only in the document that removes the old topics and adds the new topics.
  */
sealed trait StreamCutover extends StreamPlace

object StreamCutover {

  /** Default lateness of records. */
  val Lateness: Duration = Duration.ofMinutes(1)

  /** Cuts each partition over at its first record whose timestamp is not before a time.
    *
    * @param lateness
    *   how long after `time` Splice waits for such a record of a partition, before it uses the end of the partition
    *   instead
    */
  final case class At(time: Instant, lateness: Duration = Lateness) extends StreamCutover {

    // Timestamps of records have a precision of one millisecond.
    private[dynamic] def millis: Long = time.plusNanos(999999L).toEpochMilli
  }

  /** Cuts each partition over at its own offset: removed topics end before this offset, and new topics start at this
    * offset.
    *
    * @param clusters
    *   offsets by the name of the cluster
    */
  final case class Offsets(clusters: SortedMap[String, SortedMap[LogPartition, Long]]) extends StreamCutover {

    private[dynamic] def of(topic: ClusterTopic): KafkaPosition =
      KafkaPosition(clusters.getOrElse(topic.cluster, SortedMap.empty[LogPartition, Long])).only(topic.topic)
  }
}
