// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.enumerator

import java.time.{Clock, Duration, Instant}

import scala.collection.immutable.{SortedMap, SortedSet}

import com.fasterxml.jackson.databind.JsonNode

import splice.kafka.dynamic.internal.change.{CutoverOrder, UpperBound}
import splice.kafka.dynamic.internal.cluster.{ClusterHealth, ClusterWorker}
import splice.kafka.dynamic.internal.metadata.MetadataDiscovery
import splice.kafka.dynamic.internal.split.{ClusterTopic, DynamicPosition}
import splice.kafka.dynamic.internal.state.{AppliedMetadata, Availability, OncePerSet, TopicState}
import splice.source.internal.entries.Json
import splice.source.internal.legs.RunTotals
import splice.source.runtime.ProgressMetric

/** Figures of all clusters, and of each cluster. The figures of a cluster are removed with the cluster. While a request
  * to a cluster is pending, or while a cluster is inactive, the last figures of the cluster remain.
  *
  * @param cutover
  *   the value of the option `cutover`, which decides which topics wait for a drain
  * @param maxTopics
  *   maximum number of topics that have gauges
  */
final private[dynamic] class ClusterReports(clock: Clock, cutover: CutoverOrder, maxTopics: Int) {

  import ClusterReports._

  private var last: SortedMap[String, SortedMap[String, String]] = SortedMap.empty
  private val totals                                             = new RunTotals

  private var read: SortedMap[String, SortedSet[String]] = SortedMap.empty
  private var topics: SortedMap[String, TopicFigures]    = SortedMap.empty

  /** Returns the figures of a position.
    *
    * @param all
    *   the workers, including workers of clusters that were drained in this batch, which end with the next request
    */
  def apply(
      position: DynamicPosition,
      applied: AppliedMetadata,
      all: SortedMap[String, ClusterWorker],
      discovery: MetadataDiscovery,
      groups: WaitingGroups
  ): SortedMap[String, String] = {
    val now     = clock.instant()
    val before  = last
    val workers = all.filter { case (name, _) => applied.read.contains(name) }
    read = applied.read
    last = workers.map { case (name, worker) => name -> worker.peek(_.figures(position.of(name))) }.map {
      case (name, figures) =>
        def known = before.getOrElse(name, SortedMap.empty[String, String])
        name -> figures.fold(if (applied.isActive(name)) known else rested(known))(_())
    }
    val isHeld   = new OncePerSet((after, _) => UpperBound.isHeld(applied, cutover, after, position))
    val clusters = workers.toSeq.map { case (name, worker) =>
      val of = applied.of(name).toSeq
      name -> cluster(
        last(name),
        of.count { case (_, is) => isWaiting(is, isHeld) },
        of.count { case (_, is) => isDrained(is) },
        worker,
        now
      )
    }
    val health = discovery.health
    val sums   = SortedMap(ProgressMetric.RowsSkipped -> "0") ++ totals(last)
    SortedMap.from(summed ++ greatest ++ sums ++ Seq(
      ProgressMetric.Position           -> summary(position),
      ProgressMetric.Splits             -> position.clusters.valuesIterator.map(_.offsets.size).sum.toString,
      ProgressMetric.Clusters           -> Json.write(Json.obj(clusters: _*)),
      ProgressMetric.Change             -> applied.number.toString,
      ProgressMetric.RowsAbandoned      -> applied.rowsAbandoned.toString,
      ProgressMetric.TopicsAbandoned    -> applied.topicsAbandoned.toString,
      ProgressMetric.MetadataRejections -> groups.rejections.toString,
      ProgressMetric.MetadataFailures   -> health.total.toString
    ) ++ applied.generation.map(ProgressMetric.Generation -> _.toString) ++
      names(ProgressMetric.Waiting, groups.waitsFor) ++ groups.figures ++
      discovery.age(now).map(ProgressMetric.MetadataAge -> _.toMillis.toString))
  }

  private def summary(at: DynamicPosition): String = {
    val offsets = at.clusters.valuesIterator.flatMap(_.offsets.valuesIterator).sum
    s"change ${at.change}, ${at.clusters.size} clusters, $offsets offsets"
  }

  private def names(key: String, texts: Iterable[String]): Option[(String, String)] =
    if (texts.isEmpty) None else Some(key -> Json.write(Json.array(texts.toSeq.sorted.map(Json.text))))

  private def cluster(
      figures: SortedMap[String, String],
      waiting: Int,
      draining: Int,
      worker: ClusterWorker,
      now: Instant
  ): JsonNode = {
    val health  = worker.health
    val numbers = ofCluster.flatMap(key => figures.get(key).flatMap(_.toLongOption).map(key -> _)) ++ Seq(
      "failuresTotal"  -> health.total,
      "topicsWaiting"  -> waiting.toLong,
      "topicsDraining" -> draining.toLong
    ) ++ available(health).map("available" -> _) ++
      worker.responded.map(at => "responseAgeMs" -> Duration.between(at, now).toMillis) ++
      health.since.map(s => "unavailableMs" -> Duration.between(s, now).toMillis)
    Json.obj(numbers.map { case (key, number) => key -> Json.number(number) }: _*)
  }

  private def available(health: ClusterHealth): Option[Long] = health.availability match {
    case Availability.Unknown        => None
    case Availability.Available      => Some(1L)
    case _: Availability.Unavailable => Some(0L)
  }

  /** Returns the last figures of a closed enumerator, without the age of discovery, and without counters. The next
    * enumerator of the cluster counts from 0, and the totals of the run include the last counters.
    */
  private def rested(figures: SortedMap[String, String]): SortedMap[String, String] =
    figures.filterNot { case (key, _) => key == ProgressMetric.DiscoveryAge || key.endsWith("Total") }

  private def isWaiting(topic: TopicState, isHeld: SortedSet[ClusterTopic] => Boolean): Boolean = topic match {
    case _: TopicState.Waiting  => true
    case is: TopicState.Reading => isHeld(is.after)
    case _                      => false
  }

  private def isDrained(topic: TopicState): Boolean = topic match {
    case _: TopicState.Pending | _: TopicState.Draining => true
    case _                                              => false
  }

  /** Returns the figures of topics. The order of names selects the topics, so that a change of a backlog does not
    * replace a topic by another topic.
    */
  def gauges(workers: SortedMap[String, ClusterWorker]): Iterable[(String, Long)] = {
    topics = last.map { case (name, _) =>
      name ->
        workers.get(name).flatMap(_.peek(_.ofTopics)).map(_()).orElse(topics.get(name)).getOrElse(
          SortedMap.empty: TopicFigures
        )
    }
    val all = topics.toSeq.flatMap { case (name, byTopic) =>
      val reads = read.getOrElse(name, Set.empty[String])
      byTopic.iterator.collect { case (topic, figures) if reads(topic) => (name, topic, figures) }
    }
    val shown = for ((name, topic, figures) <- all.take(maxTopics); (key, number) <- figures)
      yield s"${ProgressMetric.Clusters}.${ProgressMetric.part(name)}.topics.${ProgressMetric.part(topic)}.$key" ->
        number
    shown :+ ("topicsWithoutGauges" -> math.max(all.size - maxTopics, 0).toLong)
  }

  private def summed: Seq[(String, String)] =
    sums.flatMap(key => values(key).reduceOption(_ + _).map(key -> _.toString))

  private def greatest: Seq[(String, String)] =
    Seq(ProgressMetric.SecondsBehind).flatMap(key => values(key).maxOption.map(key -> _.toString))

  private def values(key: String): Seq[Long] = last.values.flatMap(_.get(key)).flatMap(_.toLongOption).toSeq
}

private[dynamic] object ClusterReports {

  private type TopicFigures = SortedMap[String, Seq[(String, Long)]]

  private val sums = Seq(
    ProgressMetric.RowsBehind,
    ProgressMetric.BytesBehind,
    ProgressMetric.RowsArriving
  )

  private val ofCluster = Seq(
    ProgressMetric.Splits,
    ProgressMetric.RowsBehind,
    ProgressMetric.BytesBehind,
    ProgressMetric.SecondsBehind,
    ProgressMetric.RowsArriving,
    ProgressMetric.DiscoveryAge
  )
}
