// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.bounds

import scala.annotation.tailrec
import scala.collection.immutable.SortedSet

import splice.kafka.internal.cluster.{LogMetadata, Silence}
import splice.kafka.internal.errors.KafkaErrors
import splice.kafka.internal.identity.{Membership, Settled}
import splice.kafka.internal.split.KafkaPosition
import splice.source.LogPartition
import splice.source.errors.SpliceException

/** The ends of partitions: the current ends, or the fixed ends of the run. */
final private[splice] class LogEnds(log: LogMetadata, membership: Membership, watch: EndWatch, silence: Silence) {

  private var frozen: Option[KafkaPosition] = None
  private var checked: Set[LogPartition]    = Set.empty
  private var described                     = SortedSet.empty[LogPartition] -> Set.empty[LogPartition]

  /** True if the ends of the run are fixed. */
  def isFrozen: Boolean = frozen.nonEmpty

  /** The end of a partition in a run with fixed ends. */
  def fixed(partition: LogPartition): Option[Long] = frozen.flatMap(_.get(partition))

  /** Fixes the current ends for the run. */
  def freeze(): Unit = frozen = Some(KafkaPosition.of(now(membership.first())))

  /** Replaces the ends of topics that were recreated. */
  def renew(topics: Set[String], there: SortedSet[LogPartition]): Unit = {
    watch.forget(topics)
    frozen = frozen.map { ends =>
      topics.foldLeft(ends)(_ without _) ++ now(there.filter(p => topics(p.topic)))
    }
  }

  /** The partitions that this run may read. For a bounded source or a run with fixed ends, the partitions were fixed at
    * the start.
    */
  def reach(there: SortedSet[LogPartition], ending: Option[KafkaPosition]): Set[LogPartition] = {
    if (there ne described._1) described = there -> there.toSet
    (ending.toSeq ++ frozen).foldLeft(described._2)((some, position) => some.filter(position.offsets.contains))
  }

  /** Returns the ends, or None if a discovery during this call has changed the position. */
  def of(at: KafkaPosition, partitions: Set[LogPartition]): Option[Map[LogPartition, Long]] = frozen match {
    case None       => live(at, partitions)(silence.ends)
    case Some(ends) =>
      // A fixed end before the position has two possible causes: the leg began after the ends were fixed, or the log
      // lost records.
      val below = partitions.filter(p => at.get(p).exists(offset => ends.get(p).exists(_ < offset))) -- checked
      // The run must not end before the loss of records is excluded, so these partitions have to respond.
      live(at, below)(required).map { now =>
        checked ++= below
        val lowered = now.filter { case (p, end) => at.get(p).exists(_ > end) }
        partitions.iterator.flatMap(p => ends.get(p).map(end => p -> math.max(end, at.get(p).getOrElse(end)))).toMap ++
          lowered
      }
  }

  /** Limits the ends to those of a bounded source. An end before the position is unchanged, because such an end shows
    * that records were lost.
    */
  def cut(at: KafkaPosition)(ends: Map[LogPartition, Long], ending: KafkaPosition): Map[LogPartition, Long] =
    ends.map { case (p, end) =>
      val offset = math.min(at.get(p).getOrElse(end), end)
      p -> math.max(offset, math.min(end, ending.get(p).getOrElse(end)))
    }

  private def now(partitions: SortedSet[LogPartition]): Map[LogPartition, Long] =
    watch.ends(KafkaPosition.Empty, partitions.toSet)(present)(false).getOrElse(Map.empty)

  /** The ends of the partitions that exist. Partitions without a leader and partitions of deleted topics do not
    * respond. The call waits only for partitions without a leader.
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
