// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.bounds

import org.slf4j.LoggerFactory

import splice.kafka.internal.cluster.{LogMetadata, SecondLook}
import splice.kafka.internal.errors.{DataLoss, MissingRange}
import splice.kafka.internal.split.KafkaPosition
import splice.source.LogPartition

/** The last ends of partitions. A lower end than the previous one is requested again. If the end remains lower, records
  * are lost.
  *
  * @param isCommitted
  *   true if ends are those of committed records; such an end may be lower than the position of a run that read all
  *   records
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

  /** Sets the starts of partitions whose logs may end before the start, such as those of a mirror that lags. Replaces
    * the starts of earlier calls.
    *
    * While the position of a partition is its expected start, a lower end is not a loss, and the query waits for the
    * records.
    */
  def expect(starts: KafkaPosition): Unit = expected = starts

  /** Removes the ends of topics that were recreated. */
  def forget(topics: Set[String]): Unit = known = known.filterNot { case (p, _) => topics(p.topic) }

  /** Restores the previous ends of all topics. The last ends may be those of recreated topics. */
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

    def compared(found: Map[LogPartition, Long]): Seq[MissingRange] = {
      if (last._1 ne found) last = found -> lower(found)
      last._2
    }
    val seen = looks.confirm(request(partitions))(compared(_).nonEmpty)(() => request(partitions))
    val lost = compared(seen)
    if (lost.nonEmpty && changed) None
    else {
      if (lost.nonEmpty) loss.report("the end of the log is lower than before", lost.sortBy(_.partition))
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

  /** Positions in records of open transactions. An earlier run with `kafka.isolation.level` = read_uncommitted has read
    * these records.
    *
    * The log still has the records, so they are not lost. Within a run, the end of committed records never decreases.
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
        s"$p was read up to offset $offset, and transactions are open from offset ${ends(p)} on. " +
          "The query continues with the partition after these transactions have ended."
      )
    }
    still ++ found
  }

  /** Expected starts of partitions that have not been read. Their logs may end before the start. */
  private def waiting(at: KafkaPosition, partitions: Set[LogPartition]): Map[LogPartition, Long] =
    expected.offsets.toMap.filter { case (p, start) =>
      partitions(p) && at.get(p).contains(start) && at.generation(p.topic) == expected.generation(p.topic)
    }

  private def tell(early: Map[LogPartition, Long], ends: Map[LogPartition, Long]): Unit = {
    early.toSeq.sortBy(_._1).filterNot(e => warned(e._1.topic)).foreach { case (p, start) =>
      EndWatch.logger.warn(
        s"$p is to be read from $start on, and its log ends at ${ends(p)}. The query waits for the records."
      )
    }
    warned = early.keysIterator.map(_.topic).toSet
  }
}

private object EndWatch {
  private val logger = LoggerFactory.getLogger(classOf[EndWatch])
}
