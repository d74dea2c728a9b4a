// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.enumerator

import splice.kafka.dynamic.change.{Leaving, LeavingCut, LeavingPlan}
import splice.kafka.split.{KafkaPosition, KafkaSplitRange}
import splice.source.{Limits, LogPartition}

/** How far a cluster can be read from a position.
  *
  * @param begins
  *   where partitions begin that have something to read, also those that the position does not know
  * @param leaving
  *   removed topics of the request: the response decides where these end
  * @param written
  *   the ends of partitions of removed topics, including records of transactions that are open
  * @param gone
  *   partitions of these that are to be drained, and that were deleted or recreated
  * @param clusterId
  *   the cluster's own id, as far as its brokers tell it
  */
final private[dynamic] case class Reach(
    until: KafkaPosition,
    begins: Map[LogPartition, Long],
    leaving: Map[String, Leaving],
    written: Map[LogPartition, Long],
    gone: Set[LogPartition],
    clusterId: Option[String]
) {

  /** The end of a removed topic. Records of open transactions belong to it, although readers see them only after the commit. */
  def end(topic: String): KafkaPosition = {
    val visible = until.only(topic)
    visible.copy(offsets = visible.offsets.map { case (p, end) => p -> math.max(end, written.getOrElse(p, end)) })
  }

  /** How many offsets that is. */
  def rows: Long = begins.iterator.flatMap { case (p, begin) => until.get(p).map(end => math.max(end - begin, 0L)) }.sum
}

private[dynamic] object Reach {

  /** Asks for all that there is.
    *
    * @param leaving
    *   topics that were removed before the request
    * @param expected
    *   where partitions begin, of which the log may not have come so far yet
    */
  def of(
      enumerator: ClusterEnumerator,
      from: KafkaPosition,
      expected: KafkaPosition,
      leaving: Map[String, Leaving]
  ): Reach = {
    enumerator.expect(expected)
    // A partition that was created between the last refresh and the removal belongs to the drain.
    if (leaving.valuesIterator.exists(_.plan == LeavingPlan.Ask)) enumerator.refresh()
    val until  = enumerator.advance(from, Limits.Everything)
    val ranges = if (until == from) Nil else enumerator.splits(from, until)
    val begins = ranges.collect { case r: KafkaSplitRange => r.partition -> r.from }.toMap
    val gone   = leaving.valuesIterator.map(_.plan).collect { case LeavingPlan.Drain(ends) => ends }
      .flatMap(missing(enumerator, from, until, _)).toSet
    val ending = leaving.collect { case (topic, Leaving(_, _, LeavingPlan.Ask, _)) => topic }
    val last   = ending.flatMap(until.only(_).offsets.keySet).toSet
    Reach(until, begins, leaving, if (last.isEmpty) Map.empty else enumerator.written(last), gone, enumerator.clusterId)
  }

  private def missing(
      enumerator: ClusterEnumerator,
      from: KafkaPosition,
      until: KafkaPosition,
      ends: KafkaPosition
  ): Iterable[LogPartition] = {
    val exists = enumerator.isMember(ends)
    ends.offsets.keys.filter(p => !exists(p.toString) || LeavingCut.isOther(ends, p.topic, from, until))
  }
}
