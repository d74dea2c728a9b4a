// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.enumerator

import splice.kafka.split.KafkaPosition
import splice.kafka.{DataLoss, MissingRange}
import splice.source.LogPartition

/** The ends of partitions as they were last seen. A lower end than before is asked for again; if it stays, records are lost. */
final private[splice] class EndWatch(log: LogMetadata, looks: SecondLook, loss: DataLoss) {

  private var known: Map[LogPartition, Long] = Map.empty

  def last(partition: LogPartition): Option[Long] = known.get(partition)

  /** Forgets topics that are others now. */
  def forget(topics: Set[String]): Unit = known = known.filterNot { case (p, _) => topics(p.topic) }

  /** The ends now; a partition that the brokers do not tell of is left out. None when the position has changed meanwhile.
    *
    * @param at
    *   everything before it was read, so the log was once that long
    * @param changed
    *   asked before records are said to be lost, since a topic that was created again is the better explanation
    */
  def ends(at: KafkaPosition, partitions: Set[LogPartition])(changed: => Boolean): Option[Map[LogPartition, Long]] = {
    def highest(p: LogPartition): Long = math.max(at.get(p).getOrElse(0L), known.getOrElse(p, 0L))
    def lower(ends: Map[LogPartition, Long]): Seq[MissingRange] =
      ends.iterator.collect { case (p, end) if end < highest(p) => MissingRange(p, end, Some(highest(p))) }.toSeq

    val seen = looks.confirm(log.ends(partitions))(lower(_).nonEmpty)(() => log.ends(partitions))
    val lost = lower(seen)
    if (lost.nonEmpty && changed) None
    else {
      if (lost.nonEmpty) loss.report("the log ends before where it ended earlier", lost.sortBy(_.partition))
      known ++= seen
      Some(seen)
    }
  }
}
