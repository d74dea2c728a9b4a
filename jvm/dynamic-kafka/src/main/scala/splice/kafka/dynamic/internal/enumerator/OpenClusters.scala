// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.enumerator

import org.slf4j.LoggerFactory

import splice.kafka.dynamic.internal.change.{CutoverOrder, UpperBound}
import splice.kafka.dynamic.internal.cluster.ClusterResponse
import splice.kafka.dynamic.internal.split.{ClusterTopic, DynamicPosition, DynamicSplitRange}
import splice.kafka.dynamic.internal.state.AppliedMetadata
import splice.kafka.dynamic.internal.state.TopicState.{Draining, Pending, Waiting}
import splice.kafka.internal.enumerator.{KafkaPlan, OpenReads}
import splice.kafka.internal.options.AdmissionOptions.MaxBytes
import splice.kafka.internal.options.KafkaOptions.MaxOffsets
import splice.kafka.internal.split.KafkaPosition
import splice.source.{LogPartition, SplitRange}

/** Plans batches that read many clusters without an end ([[splice.source.runtime.OpenEnded]]).
  *
  * A topic with a limit, such as the end of a drain, is read up to the end of its log when the batch begins. A cluster
  * that has not responded is read from the positions that the query has.
  *
  * @param plan
  *   returns the plan of a cluster
  * @param isBounded
  *   true if the source has an end. Splice then reads a cluster only after the cluster has returned the end offsets
  */
final private[splice] class OpenClusters(plan: String => KafkaPlan, cutover: CutoverOrder, isBounded: Boolean) {

  import OpenClusters._

  @volatile private var batch = Option.empty[Batch]

  // The clusters and limits for which a warning was logged.
  private var warned = Set.empty[(String, String)]

  /** Returns the batch that was settled last. Any thread may call this method. */
  def last: Option[Batch] = batch

  /** Returns the start of the batch after a round.
    *
    * @param waits
    *   true if streams wait for a cluster
    */
  def settle(round: Round, waits: Boolean): DynamicPosition = {
    warnOfLimits(round.applied)
    val settled = round.responses.foldLeft(round.at) { case (at, (name, reach)) =>
      at.updated(name, passed(round, name, reach, limited(round, name, reach, reach.settled)))
    }
    batch = Some(Batch(settled, round.applied, ranges(round, settled), waits || isPassing(round, settled)))
    settled
  }

  private def warnOfLimits(applied: AppliedMetadata): Unit = {
    val limits = applied.clusters.values.filter(cluster => applied.read.contains(cluster.name)).flatMap { cluster =>
      val set = cluster.maxOffsetsPerTrigger.map(_ => MaxOffsets.key) ++
        cluster.maxBytesPerTrigger.map(_ => MaxBytes.key)
      set.map(cluster.name -> _)
    }.toSet
    (limits -- warned).toSeq.sorted.foreach { case (name, key) =>
      logger.warn(
        s"Cluster $name: '$key' in the stream metadata has no effect in real-time mode and continuous mode."
      )
    }
    warned = limits
  }

  /** Returns the ranges of the batch that begins at a position, which [[settle]] returned last. */
  def open(settled: DynamicPosition): Seq[DynamicSplitRange] = batch.filter(_.start == settled).fold(
    throw new IllegalStateException(s"The batch at ${settled.json} was not settled")
  )(_.ranges)

  def reached(settled: DynamicPosition, unread: Seq[SplitRange]): DynamicPosition = {
    val left = unread.collect { case range: DynamicSplitRange => range }.groupMap(_.cluster)(_.range)
    open(settled).groupMap(_.cluster)(_.range).foldLeft(settled) { case (at, (name, planned)) =>
      at.updated(name, OpenReads.reached(at.of(name), planned, left.getOrElse(name, Nil)))
    }
  }

  /** Moves partitions to their limits if the history has all offsets up to these limits. No range contains such offsets,
    * so a batch would never end at the limit.
    */
  private def passed(round: Round, name: String, reach: ClusterResponse, settled: KafkaPosition): KafkaPosition =
    if (reach.fills.isEmpty) settled
    else {
      val bound                                          = limited(round, name, reach, reach.until)
      def isPassed(p: LogPartition, at: Long, end: Long) = {
        val generation = settled.generation(p.topic)
        at < end && bound.generation(p.topic) == generation && !isUnlimited(round, name, p.topic) &&
        reach.fills.between(p, generation, at, end) == 0
      }
      settled ++ settled.offsets.flatMap { case (p, at) => bound.get(p).filter(isPassed(p, at, _)).map(p -> _) }
    }

  private def limited(round: Round, name: String, reach: ClusterResponse, until: KafkaPosition) =
    UpperBound(round.applied, cutover, name, round.at, until, reach.places, reach.begin)

  private def ranges(round: Round, settled: DynamicPosition): Seq[DynamicSplitRange] =
    settled.clusters.toSeq.filter { case (name, _) => round.applied.isActive(name) }.flatMap { case (name, position) =>
      val end = ends(round, name, position)
      // A topic that stays at its position may have missing offsets.
      val until = position.offsets.flatMap { case (p, at) => end(p).filter(_ > at).map(p -> _) }
      plan(name).open(position)(until.contains, until).map { range =>
        val topic = range.partition.topic
        DynamicSplitRange(name, round.applied.stream(ClusterTopic(name, topic)).getOrElse(topic), range)
      }
    }

  /** Returns the ends of the partitions of a cluster; None for a partition that is not read. Until the cluster
    * responds, only topics without a limit are read.
    */
  private def ends(round: Round, name: String, settled: KafkaPosition): LogPartition => Option[Long] = {
    val ahead                   = this.ahead(round, name, settled)
    def isOpen(p: LogPartition) = isUnlimited(round, name, p.topic) && !ahead(p)
    round.responses.get(name) match {
      case Some(reach) =>
        val bound = limited(round, name, reach, reach.until)
        p => reach.open.get(p).flatMap(end => if (isOpen(p)) Some(end) else bound.get(p))
      case None => p => Option.when(!isBounded && isOpen(p))(Long.MaxValue)
    }
  }

  private def isUnlimited(round: Round, name: String, topic: String) =
    UpperBound.isUnlimited(round.applied, cutover, ClusterTopic(name, topic), round.at)

  /** Returns the partitions whose logs may end before their positions. */
  private def ahead(round: Round, name: String, settled: KafkaPosition): Set[LogPartition] = {
    val written = round.responses.get(name).fold(Map.empty[LogPartition, Long])(_.written)
    round.applied.expectedOn(name).offsets.collect {
      case (p, start)
          if round.at.of(name).get(p).forall(_ <= start) &&
            !written.get(p).exists(end => settled.get(p).exists(_ <= end)) => p
    }.toSet
  }

  private def isPassing(round: Round, settled: DynamicPosition): Boolean = {
    import round.{applied, silent}
    def isAhead = settled.clusters.exists { case (name, position) =>
      applied.isActive(name) && ahead(round, name, position).exists(p => isUnlimited(round, name, p.topic))
    }
    def changes = applied.topics.exists {
      case (topic, _: Waiting | _: Pending | _: Draining) =>
        applied.isActive(topic.cluster) && !round.held(topic)
      case _ => false
    }
    def unknown = silent.exists(name => applied.read.get(name).exists(_.exists(!settled.of(name).hasTopic(_))))
    // A cluster of a source with an end has no range before it responds.
    changes || isAhead || unknown || isBounded && silent.nonEmpty
  }
}

private[splice] object OpenClusters {

  private val logger = LoggerFactory.getLogger(classOf[OpenClusters])

  /** Batch that is being read.
    *
    * @param applied
    *   the state at its start
    * @param isPassing
    *   true if the next batch may read more without a change of a document or a cluster. Examples: a drain ends, the
    *   time of a cutover is reached, or a cluster with unknown starts responds
    */
  final case class Batch(
      start: DynamicPosition,
      applied: AppliedMetadata,
      ranges: Seq[DynamicSplitRange],
      isPassing: Boolean
  )
}
