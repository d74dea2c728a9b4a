// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.enumerator

import scala.annotation.tailrec
import scala.collection.immutable.SortedSet

import splice.kafka.KafkaErrors
import splice.kafka.split.KafkaPosition
import splice.source.{LogPartition, SpliceException}

/** How far partitions can be read: to their ends now, or as they were when the run's ends were fixed. */
final private[splice] class LogEnds(log: LogMetadata, membership: Membership, watch: EndWatch, silence: Silence) {

  private var frozen: Option[KafkaPosition] = None
  private var checked: Set[LogPartition]    = Set.empty
  private var described                     = SortedSet.empty[LogPartition] -> Set.empty[LogPartition]

  /** Whether the run ends where it was decided to. */
  def isFrozen: Boolean = frozen.nonEmpty

  /** The end of a partition in a run whose ends are fixed. */
  def fixed(partition: LogPartition): Option[Long] = frozen.flatMap(_.get(partition))

  /** Takes the ends as they are now for those of the run. */
  def freeze(): Unit = frozen = Some(KafkaPosition.of(now(membership.first())))

  /** Forgets the ends of topics that are others now. */
  def renew(topics: Set[String], there: SortedSet[LogPartition]): Unit = {
    watch.forget(topics)
    frozen = frozen.map { ends =>
      topics.foldLeft(ends)(_ without _) ++ now(there.filter(p => topics(p.topic)))
    }
  }

  /** The partitions that this run may read: a bounded source's and a frozen run's were fixed when it began. */
  def reach(there: SortedSet[LogPartition], ending: Option[KafkaPosition]): Set[LogPartition] = {
    if (there ne described._1) described = there -> there.toSet
    (ending.toSeq ++ frozen).foldLeft(described._2)((some, position) => some.filter(position.offsets.contains))
  }

  /** The ends; None when the cluster was looked at meanwhile and the position is another one now. */
  def of(at: KafkaPosition, partitions: Set[LogPartition]): Option[Map[LogPartition, Long]] = frozen match {
    case None       => live(at, partitions)(silence.ends)
    case Some(ends) =>
      // A frozen end below the position is how a leg looks that began after the ends were taken, or a log that lost records.
      val below = partitions.filter(p => at.get(p).exists(offset => ends.get(p).exists(_ < offset))) -- checked
      // The run must not end before it is known whether records are lost, so these partitions have to respond.
      live(at, below)(required).map { now =>
        checked ++= below
        val lowered = now.filter { case (p, end) => at.get(p).exists(_ > end) }
        partitions.iterator.flatMap(p => ends.get(p).map(end => p -> math.max(end, at.get(p).getOrElse(end)))).toMap ++
          lowered
      }
  }

  /** Ends no later than a bounded source's; an end below the position stays, since it tells of records that were lost. */
  def cut(at: KafkaPosition)(ends: Map[LogPartition, Long], ending: KafkaPosition): Map[LogPartition, Long] =
    ends.map { case (p, end) =>
      val offset = math.min(at.get(p).getOrElse(end), end)
      p -> math.max(offset, math.min(end, ending.get(p).getOrElse(end)))
    }

  private def now(partitions: SortedSet[LogPartition]): Map[LogPartition, Long] =
    watch.ends(KafkaPosition.Empty, partitions.toSet)(present)(false).getOrElse(Map.empty)

  /** The ends of the partitions that exist. Neither a partition without a leader nor one of a deleted topic responds; only the first is waited
    * for.
    */
  @tailrec private def present(partitions: Set[LogPartition]): Map[LogPartition, Long] = {
    val soon = log.endsSoon(partitions)
    val left = if (soon.silent.isEmpty) partitions else partitions.intersect(membership.first())
    if (left != partitions) present(left) else if (soon.silent.isEmpty) soon.found else log.ends(partitions)
  }

  private def required(partitions: Set[LogPartition]): Map[LogPartition, Long] = {
    val soon = log.endsSoon(partitions)
    soon.silent.valuesIterator.foreach(throw _)
    soon.found
  }

  private def live(at: KafkaPosition, partitions: Set[LogPartition])(
      request: Set[LogPartition] => Map[LogPartition, Long]
  ): Option[Map[LogPartition, Long]] =
    if (partitions.isEmpty) Some(Map.empty)
    else
      attempt(watch.ends(at, partitions)(request)(membership.look(at).position != at)) match {
        case Right(ends) if ends.isEmpty || !silence.isDoubtful => ends
        case Left(error) if silence.isKnown                     => throw error
        case response                                           =>
          // A partition of a deleted topic does not respond either.
          val Settled(position, there) = membership.look(at)
          val left                     = partitions.intersect(there)
          silence.describe(there)
          response match {
            case _ if position != at               => None
            case Right(ends)                       => ends.map(_.filter { case (p, _) => left(p) })
            case Left(error) if left == partitions => throw error
            case Left(_)                           => live(at, left)(request)
          }
      }

  private def attempt[A](request: => A): Either[SpliceException, A] =
    try Right(request)
    catch { case e: SpliceException if KafkaErrors.isUnreachable(e) || silence.isDoubtful => Left(e) }
}
