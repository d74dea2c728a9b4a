// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.enumerator

import splice.kafka.MissingRange
import splice.kafka.split.KafkaPosition
import splice.source.LogPartition

/** Passes over what the log no longer holds, before a batch is planned that would begin there.
  *
  * @param earliest
  *   requests the first offsets of partitions; it leaves out those that do not respond
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

  /** Partitions that are behind. One that was at its end when that was last asked for cannot have been overtaken by retention
    * unless records came and went within one batch, which its reader notices; so nothing is asked for its sake.
    */
  def behind(at: KafkaPosition, partitions: Set[LogPartition]): Set[LogPartition] =
    partitions.filterNot(p => watch.last(p).exists(end => at.get(p).exists(end <= _)))

  /** The position after what was passed over before. */
  def known(at: KafkaPosition): KafkaPosition =
    if (skipLog.known.isEmpty) at
    else
      at.copy(offsets = at.offsets.map { case (p, offset) =>
        p -> skipLog.known.next(p, at.generation(p.topic), offset)
      })

  /** The ends, none of them before where a partition goes on that has passed over something. */
  def reached(before: KafkaPosition, at: KafkaPosition, ends: Map[LogPartition, Long]): Map[LogPartition, Long] =
    if (before eq at) ends
    else
      ends.map { case (p, end) =>
        p -> at.get(p).filterNot(before.get(p).contains).fold(end)(math.max(end, _))
      }

  /** The position after what retention has removed; durable when this returns.
    *
    * @param behind
    *   the partitions that it may have overtaken
    */
  def pass(at: KafkaPosition, ends: Map[LogPartition, Long], behind: Set[LogPartition]): KafkaPosition = {
    val asked = behind.filter(p => at.get(p).exists(offset => ends.get(p).exists(offset < _)))
    val gaps  = (if (asked.isEmpty) Map.empty[LogPartition, Long] else earliest(asked)).toSeq.sortBy(_._1).flatMap {
      case (p, first) =>
        // What the history has is not lost.
        at.get(p).toSeq.flatMap { offset =>
          fills().read(p, at.generation(p.topic), offset, first).ranges
            .map { case (from, until) => MissingRange(p, from, Some(until)) }
        }
    }
    val to = retention.goOn("the log begins after what is to be read next", gaps)
    if (to.isEmpty) at
    else {
      val from = KafkaPosition(at.offsets.filter { case (p, _) => to.contains(p) }).like(at)
      skipLog.add(from, KafkaPosition.of(to).like(at))
      at ++ to
    }
  }
}
