// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.enumerator

import scala.collection.immutable.SortedMap

import splice.kafka.dynamic.DynamicErrors
import splice.kafka.dynamic.change.{Leaving, LeavingCut, LeavingPlan}
import splice.kafka.enumerator.{ClusterEnumerator, Fills, SilentPartition}
import splice.kafka.split.{KafkaPosition, KafkaSplitRange}
import splice.source.{Limits, LogPartition}

/** How far a cluster can be read from a position.
  *
  * @param begins
  *   where partitions begin that have something to read, also those that the position does not know
  * @param rows
  *   how many offsets are to be read
  * @param fills
  *   the holes of a history that are to be read
  * @param leaving
  *   removed topics of the request: the response decides where these end
  * @param written
  *   the ends of partitions of removed topics, including records of transactions that are open
  * @param gone
  *   partitions of these that are to be drained, and that were deleted or recreated
  * @param clusterId
  *   the cluster's own id, as far as its brokers tell it
  * @param silent
  *   partitions that do not respond, and of which the response has no new records
  */
final private[dynamic] case class Reach(
    until: KafkaPosition,
    begins: Map[LogPartition, Long],
    rows: Long,
    fills: Fills,
    leaving: Map[String, Leaving],
    written: Map[LogPartition, Long],
    gone: Set[LogPartition],
    clusterId: Option[String],
    silent: SortedMap[LogPartition, SilentPartition]
) {

  /** The end of a removed topic. Records of open transactions belong to it, although readers see them only after the commit. */
  def end(topic: String): KafkaPosition = {
    val visible = until.only(topic)
    visible.copy(offsets = visible.offsets.map { case (p, end) => p -> math.max(end, written.getOrElse(p, end)) })
  }
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
    val until = enumerator.advance(from, Limits.Everything)
    // Where a removed topic ends is not known before all of its partitions respond.
    enumerator.silent.collectFirst { case (p, one) if leaving.contains(p.topic) => one.error }.foreach(throw _)
    val ranges = if (until == from) Nil else enumerator.splits(from, until)
    val begins =
      ranges.collect { case r: KafkaSplitRange => r.partition -> r.from }.groupMapReduce(_._1)(_._2)(math.min)
    val gone = leaving.valuesIterator.map(_.plan).collect { case LeavingPlan.Drain(ends) => ends }
      .flatMap(missing(enumerator, from, until, _)).toSet
    val ending = leaving.collect { case (topic, Leaving(_, _, LeavingPlan.Ask, _)) => topic }
    val last   = ending.flatMap(until.only(_).offsets.keySet).toSet
    Reach(
      until,
      begins,
      ranges.iterator.map(_.weight).sum,
      enumerator.plan.fills,
      leaving,
      if (last.isEmpty) Map.empty else enumerator.written(last),
      gone,
      enumerator.clusterId,
      enumerator.silent
    )
  }

  /** Two names may be one cluster, for other credentials, but no topic may be read under both. */
  def refuseTwice(found: SortedMap[String, Reach]): Unit = for {
    (id, several) <- found.toSeq.groupMap(_._2.clusterId)(identity)
    known         <- id if several.size > 1
    topics = several.map(_._2.until.topics)
    twice  = topics.flatten.groupBy(identity).collect { case (topic, all) if all.size > 1 => topic }
    if twice.nonEmpty
  } throw DynamicErrors.sameCluster(several.map(_._1), known, twice)

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
