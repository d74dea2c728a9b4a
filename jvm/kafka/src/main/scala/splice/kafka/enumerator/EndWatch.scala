// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.enumerator

import org.slf4j.LoggerFactory

import splice.kafka.split.KafkaPosition
import splice.kafka.{DataLoss, MissingRange}
import splice.source.LogPartition

/** The ends of partitions as they were last seen. A lower end than before is asked for again; if it stays, records are lost.
  *
  * @param isCommitted
  *   whether ends are those of committed records, which may be lower than the position of a run that read all records
  */
final private[splice] class EndWatch(
    log: LogMetadata,
    looks: SecondLook,
    loss: DataLoss,
    isCommitted: Boolean = false
) {

  private var known: Map[LogPartition, Long] = Map.empty
  private var previous                       = known
  private var expected                       = KafkaPosition.Empty
  private var warned                         = Set.empty[String]
  private var uncommitted                    = Map.empty[LogPartition, Long]

  def last(partition: LogPartition): Option[Long] = known.get(partition)

  /** Takes where partitions begin that were never seen so long, such as those of a mirror that lags; in place of those taken before.
    *
    * A log that ends before is waited for, as long as the position is there.
    */
  def expect(starts: KafkaPosition): Unit = expected = starts

  /** Forgets topics that are others now. */
  def forget(topics: Set[String]): Unit = known = known.filterNot { case (p, _) => topics(p.topic) }

  /** Takes back the last ends of all topics, which may be those of other topics with these names. */
  def revert(): Unit = known = previous

  /** The ends now; a partition that `request` leaves out is left out. None when the position has changed meanwhile.
    *
    * @param at
    *   everything before it was read, so the log was once that long, unless it is [[expect]]ed
    * @param request
    *   requests the ends of partitions
    * @param changed
    *   asked before records are said to be lost, since a topic that was created again is the better explanation
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

    // A response is compared once. The last one of several is not compared by `confirm`.
    var last = Map.empty[LogPartition, Long] -> Seq.empty[MissingRange]

    def compared(found: Map[LogPartition, Long]): Seq[MissingRange] = {
      if (last._1 ne found) last = found -> lower(found)
      last._2
    }
    val seen = looks.confirm(request(partitions))(compared(_).nonEmpty)(() => request(partitions))
    val lost = compared(seen)
    if (lost.nonEmpty && changed) None
    else {
      if (lost.nonEmpty) loss.report("the log ends before where it ended earlier", lost.sortBy(_.partition))
      previous = known
      known ++= seen
      if (ahead.isEmpty) Some(seen ++ uncommitted)
      else {
        val early = ahead.filter { case (p, start) => seen.get(p).exists(_ < start) }
        tell(early, seen)
        Some(seen ++ uncommitted ++ early)
      }
    }
  }

  /** Positions before which records of open transactions were read, because an earlier run had `kafka.isolation.level` = read_uncommitted. The
    * log still holds these records, so nothing is lost. Within a run, the end of committed records never decreases.
    */
  private def awaiting(
      at: KafkaPosition,
      low: Set[LogPartition],
      ends: Map[LogPartition, Long]
  ): Map[LogPartition, Long] = {
    val suspects        = at.offsets.filter { case (p, _) => low(p) && known.get(p).forall(_ <= ends(p)) }.toMap
    val (still, others) = suspects.partition { case (p, offset) => uncommitted.get(p).contains(offset) }
    val written         = if (others.isEmpty) Map.empty[LogPartition, Long] else log.written(others.keySet)
    val found           = others.filter { case (p, offset) => written.get(p).exists(_ >= offset) }
    found.toSeq.sortBy(_._1).foreach { case (p, offset) =>
      EndWatch.logger.warn(
        s"$p was read up to offset $offset, and transactions are open from offset ${ends(p)} on. The query continues with the partition when " +
          "they have ended."
      )
    }
    still ++ found
  }

  /** Where partitions begin that nothing was read of, and whose logs may not have come there yet. */
  private def waiting(at: KafkaPosition, partitions: Set[LogPartition]): Map[LogPartition, Long] =
    expected.offsets.toMap.filter { case (p, start) =>
      partitions(p) && at.get(p).contains(start) && at.generation(p.topic) == expected.generation(p.topic)
    }

  private def tell(early: Map[LogPartition, Long], ends: Map[LogPartition, Long]): Unit = {
    early.toSeq.sortBy(_._1).filterNot(e => warned(e._1.topic)).foreach { case (p, start) =>
      EndWatch.logger.warn(s"$p is to be read from $start on, and its log ends at ${ends(p)}: it is waited for.")
    }
    warned = early.keysIterator.map(_.topic).toSet
  }
}

private object EndWatch {
  private val logger = LoggerFactory.getLogger(classOf[EndWatch])
}
