// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.bounds

import scala.annotation.tailrec
import scala.collection.immutable.SortedSet

import org.slf4j.LoggerFactory

import splice.kafka.internal.cluster.{ClusterClient, Recheck, UnavailablePartitions}
import splice.kafka.internal.errors.{DataLoss, KafkaErrors, MissingRange}
import splice.kafka.internal.identity.{Settled, Topics}
import splice.kafka.internal.split.KafkaPosition
import splice.source.LogPartition
import splice.source.errors.SpliceException

/** The last ends of partitions. If an end is lower than the previous end, the end is requested again. If the end
  * remains lower, records are lost.
  *
  * @param isCommitted
  *   true if only committed records determine the ends; such an end may be lower than the position of a run that read
  *   all records
  */
final private[splice] class EndOffsets(
    log: ClusterClient,
    recheck: Recheck,
    loss: DataLoss,
    isCommitted: Boolean = false
) {

  private var known: Map[LogPartition, Long] = Map.empty
  private var previous                       = known
  private var expected                       = KafkaPosition.Empty
  private var warned                         = Set.empty[String]
  private var uncommitted                    = Map.empty[LogPartition, Long]

  def last(partition: LogPartition): Option[Long] = known.get(partition)

  /** Sets the starts of partitions whose logs may end before the start, such as partitions of a mirror that lags.
    * Replaces the starts of earlier calls.
    *
    * While the position of a partition is its expected start, a lower end is not a loss, and the query waits for the
    * records.
    */
  def expect(starts: KafkaPosition): Unit = expected = starts

  /** Removes the ends of topics that were recreated. */
  def forget(topics: Set[String]): Unit = known = known.filterNot { case (p, _) => topics(p.topic) }

  /** Restores the previous ends of all topics. The last ends may belong to recreated topics. */
  def revert(): Unit = known = previous

  /** Returns the current ends, without the partitions that `request` omits. Returns None if the position has changed
    * during the request.
    *
    * @param at
    *   the position; the log has contained all offsets before the position, except before a start that [[expect]] has
    *   set
    * @param request
    *   requests the ends of partitions
    * @param changed
    *   evaluated before records are reported as lost, since the recreation of a topic also lowers its end
    */
  def ends(at: KafkaPosition, partitions: Set[LogPartition])(request: Set[LogPartition] => Map[LogPartition, Long])(
      changed: => Boolean
  ): Option[Map[LogPartition, Long]] = {
    val ahead                          = waiting(at, partitions)
    def highest(p: LogPartition): Long = ahead.get(p) match {
      case Some(start) => known.get(p).filter(_ > start).getOrElse(0L)
      case None        => math.max(at.get(p).getOrElse(0L), known.getOrElse(p, 0L))
    }
    def lower(ends: Map[LogPartition, Long]): Seq[MissingRange] = {
      val all =
        ends.iterator.collect { case (p, end) if end < highest(p) => MissingRange(p, end, Some(highest(p))) }.toSeq
      if (isCommitted) uncommitted = awaiting(at, all.map(_.partition).toSet, ends)
      all.filterNot(range => uncommitted.contains(range.partition))
    }

    // Each response is compared once, including the last response, which `confirm` does not compare.
    var last = Map.empty[LogPartition, Long] -> Seq.empty[MissingRange]

    def compared(response: Map[LogPartition, Long]): Seq[MissingRange] = {
      if (last._1 ne response) last = response -> lower(response)
      last._2
    }
    val seen = recheck.confirm(request(partitions))(compared(_).nonEmpty)(() => request(partitions))
    val lost = compared(seen)
    if (lost.nonEmpty && changed) None
    else {
      if (lost.nonEmpty) loss.report("the end of the log is lower than before", lost.sortBy(_.partition))
      previous = known
      known ++= seen
      if (ahead.isEmpty) Some(seen ++ uncommitted)
      else {
        val early = ahead.filter { case (p, start) => seen.get(p).exists(_ < start) }
        warn(early, seen)
        Some(seen ++ uncommitted ++ early)
      }
    }
  }

  /** Positions in records of open transactions. An earlier run with `kafka.isolation.level` = read_uncommitted has read
    * these records.
    *
    * The log still has the records, so the records are not lost. Within a run, the end of committed records never
    * decreases.
    */
  private def awaiting(
      at: KafkaPosition,
      low: Set[LogPartition],
      ends: Map[LogPartition, Long]
  ): Map[LogPartition, Long] = {
    val suspects        = at.offsets.filter { case (p, _) => low(p) && known.get(p).forall(_ <= ends(p)) }.toMap
    val (still, others) = suspects.partition { case (p, offset) => uncommitted.get(p).contains(offset) }
    val written         = if (others.isEmpty) Map.empty[LogPartition, Long] else log.written(others.keySet)
    val added           = others.filter { case (p, offset) => written.get(p).exists(_ >= offset) }
    added.toSeq.sortBy(_._1).foreach { case (p, offset) =>
      EndOffsets.logger.warn(
        s"$p was read up to offset $offset, and has open transactions from offset ${ends(p)}. " +
          "The query continues with the partition after these transactions have ended."
      )
    }
    still ++ added
  }

  /** Expected starts of partitions that have not been read. The logs of these partitions may end before the start. */
  private def waiting(at: KafkaPosition, partitions: Set[LogPartition]): Map[LogPartition, Long] =
    expected.offsets.toMap.filter { case (p, start) =>
      partitions(p) && at.get(p).contains(start) && at.generation(p.topic) == expected.generation(p.topic)
    }

  private def warn(early: Map[LogPartition, Long], ends: Map[LogPartition, Long]): Unit = {
    early.toSeq.sortBy(_._1).filterNot(e => warned(e._1.topic)).foreach { case (p, start) =>
      EndOffsets.logger.warn(
        s"The start of $p is $start, and the log of the partition ends at ${ends(p)}. The query waits for the records."
      )
    }
    warned = early.keysIterator.map(_.topic).toSet
  }
}

private object EndOffsets {
  private val logger = LoggerFactory.getLogger(classOf[EndOffsets])
}

/** The ends of partitions: the current ends, or the fixed ends of the run. */
final private[bounds] class LogEnds(
    log: ClusterClient,
    topics: Topics,
    lastEnds: EndOffsets,
    silence: UnavailablePartitions
) {

  private var frozen: Option[KafkaPosition] = None
  private var checked: Set[LogPartition]    = Set.empty
  private var described                     = SortedSet.empty[LogPartition] -> Set.empty[LogPartition]

  /** True if the ends of the run are fixed. */
  def isFrozen: Boolean = frozen.nonEmpty

  /** The end of a partition in a run with fixed ends. */
  def fixed(partition: LogPartition): Option[Long] = frozen.flatMap(_.get(partition))

  /** Fixes the current ends for the run. */
  def freeze(): Unit = frozen = Some(KafkaPosition.of(now(topics.first())))

  /** Raises the fixed ends. A bounded source whose end was resolved after the ends were fixed is read to its end in this
    * run, so that the run continues with the next source.
    */
  def extend(later: Map[LogPartition, Long]): Unit =
    frozen = frozen.map(ends => ends ++ later.map { case (p, end) => p -> math.max(end, ends.get(p).getOrElse(end)) })

  /** Replaces the ends of topics that were recreated. */
  def renew(recreated: Set[String], existing: SortedSet[LogPartition]): Unit = {
    lastEnds.forget(recreated)
    frozen = frozen.map { ends =>
      recreated.foldLeft(ends)(_ without _) ++ now(existing.filter(p => recreated(p.topic)))
    }
  }

  /** The partitions that this run may read. For a bounded source or a run with fixed ends, the partitions were fixed at
    * the start.
    */
  def reach(existing: SortedSet[LogPartition], ending: Option[KafkaPosition]): Set[LogPartition] = {
    if (existing ne described._1) described = existing -> existing.toSet
    (ending.toSeq ++ frozen).foldLeft(described._2) { (partitions, position) =>
      partitions.filter(position.offsets.contains)
    }
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

  /** Limits the ends to the ends of a bounded source. An end before the position is unchanged, because such an end
    * shows that records were lost.
    */
  def cut(at: KafkaPosition)(ends: Map[LogPartition, Long], ending: KafkaPosition): Map[LogPartition, Long] =
    ends.map { case (p, end) =>
      val offset = math.min(at.get(p).getOrElse(end), end)
      p -> math.max(offset, math.min(end, ending.get(p).getOrElse(end)))
    }

  private def now(partitions: SortedSet[LogPartition]): Map[LogPartition, Long] =
    lastEnds.ends(KafkaPosition.Empty, partitions.toSet)(present)(false).getOrElse(Map.empty)

  /** The ends of the partitions that exist. Partitions without a leader and partitions of deleted topics do not
    * respond. The call waits only for partitions without a leader.
    */
  @tailrec private def present(partitions: Set[LogPartition]): Map[LogPartition, Long] = {
    val soon = log.endsSoon(partitions)
    val left = if (soon.silent.isEmpty) partitions else partitions.intersect(topics.first())
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
      attempt(lastEnds.ends(at, partitions)(request)(topics.refresh(at).position != at)) match {
        case Right(ends) if ends.isEmpty || !silence.isDoubtful => ends
        case Left(error) if silence.isKnown                     => throw error
        case response                                           =>
          // A partition of a deleted topic does not respond either.
          val Settled(position, existing) = topics.refresh(at)
          val left                        = partitions.intersect(existing)
          silence.describe(existing)
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
