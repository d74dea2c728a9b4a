// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.bounds

import splice.kafka.internal.errors.MissingRange
import splice.kafka.internal.split.KafkaPosition
import splice.source.LogPartition

/** Skips records that are no longer in the log, before a batch is planned.
  *
  * @param earliest
  *   requests the first offsets of partitions; omits partitions that do not respond
  * @param fills
  *   the holes of the start
  */
final private[splice] class Skips(
    earliest: Set[LogPartition] => Map[LogPartition, Long],
    skipLog: SkipLog,
    fills: () => Fills,
    retention: Retention,
    watch: EndWatch
) {

  /** Partitions with a backlog. If a partition had no backlog at the last request, retention could only have removed
    * records that were written within one batch. The reader detects this case, so no request is sent for such a
    * partition.
    */
  def behind(at: KafkaPosition, partitions: Set[LogPartition]): Set[LogPartition] =
    partitions.filterNot(p => watch.last(p).exists(end => at.get(p).exists(end <= _)))

  /** The position after the ranges that are already skipped. */
  def known(at: KafkaPosition): KafkaPosition =
    if (skipLog.known.isEmpty) at
    else
      at.copy(offsets = at.offsets.map { case (p, offset) =>
        p -> skipLog.known.next(p, at.generation(p.topic), offset)
      })

  /** The ends. If a partition has skipped records, its end is not before the offset at which it continues. */
  def reached(before: KafkaPosition, at: KafkaPosition, ends: Map[LogPartition, Long]): Map[LogPartition, Long] =
    if (before eq at) ends
    else
      ends.map { case (p, end) =>
        p -> at.get(p).filterNot(before.get(p).contains).fold(end)(math.max(end, _))
      }

  /** The position after the records that retention has removed. The skip is durable when the method returns.
    *
    * @param behind
    *   the partitions from which retention may have removed the next record
    */
  def pass(at: KafkaPosition, ends: Map[LogPartition, Long], behind: Set[LogPartition]): KafkaPosition = {
    val asked = behind.filter(p => at.get(p).exists(offset => ends.get(p).exists(offset < _)))
    val gaps  = (if (asked.isEmpty) Map.empty[LogPartition, Long] else earliest(asked)).toSeq.sortBy(_._1).flatMap {
      case (p, first) =>
        // Records of the history are not lost.
        at.get(p).toSeq.flatMap { offset =>
          fills().read(p, at.generation(p.topic), offset, first).ranges
            .map { case (from, until) => MissingRange(p, from, Some(until)) }
        }
    }
    val to = retention.goOn("the log begins after the next offset to read", gaps)
    if (to.isEmpty) at
    else {
      val from = KafkaPosition(at.offsets.filter { case (p, _) => to.contains(p) }).like(at)
      skipLog.add(from, KafkaPosition.of(to).like(at))
      at ++ to
    }
  }
}
