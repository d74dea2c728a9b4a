// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.enumerator

import java.time.{Clock, Duration}

import scala.collection.immutable.{SortedMap, SortedSet}

import com.fasterxml.jackson.databind.JsonNode

import splice.kafka.dynamic.change.AppliedMetadata
import splice.kafka.dynamic.split.DynamicPosition
import splice.source.{Json, ProgressMetric}

/** Figures of all clusters and of each; those of a cluster go with it. A cluster that is being asked keeps its last ones. */
final private[dynamic] class ClusterReports(clock: Clock) {

  import ClusterReports._

  private var last: SortedMap[String, SortedMap[String, String]] = SortedMap.empty
  private var skippedBefore                                      = 0L

  def apply(
      position: DynamicPosition,
      here: AppliedMetadata,
      workers: SortedMap[String, ClusterWorker],
      discovery: MetadataDiscovery,
      refusals: Int,
      waitsFor: SortedSet[String]
  ): SortedMap[String, String] = {
    val now    = clock.instant()
    val before = last
    last = workers.map { case (name, worker) =>
      name ->
        worker.peek(_.figures(position.of(name))).orElse(last.get(name)).getOrElse(SortedMap.empty[String, String])
    }
    // The count of a cluster begins at 0 again when its enumerator is created again.
    skippedBefore += before.map { case (name, own) =>
      val count = skipped(own)
      if (last.get(name).forall(skipped(_) < count)) count else 0L
    }.sum
    val clusters = workers.toSeq.map { case (name, worker) => name -> cluster(last(name), worker.health, now) }
    val health   = discovery.health
    SortedMap.from(summed ++ greatest ++ Seq(
      ProgressMetric.RowsSkipped      -> (skippedBefore + last.valuesIterator.map(skipped).sum).toString,
      ProgressMetric.Position         -> summary(position),
      ProgressMetric.Splits           -> position.clusters.valuesIterator.map(_.offsets.size).sum.toString,
      ProgressMetric.Clusters         -> Json.write(Json.obj(clusters: _*)),
      ProgressMetric.Change           -> here.number.toString,
      ProgressMetric.RowsAbandoned    -> here.rowsAbandoned.toString,
      ProgressMetric.Refusals         -> refusals.toString,
      ProgressMetric.MetadataFailures -> health.failures.toString
    ) ++ here.generation.map(ProgressMetric.Generation -> _.toString) ++ names(ProgressMetric.Waiting, waitsFor) ++
      names(ProgressMetric.StreamsPaused, here.paused) ++
      discovery.age(now).map(ProgressMetric.MetadataAge -> _.toMillis.toString))
  }

  private def summary(at: DynamicPosition): String = {
    val offsets = at.clusters.valuesIterator.flatMap(_.offsets.valuesIterator).sum
    s"change ${at.change}, ${at.clusters.size} clusters, $offsets offsets"
  }

  private def names(key: String, some: Iterable[String]): Option[(String, String)] =
    if (some.isEmpty) None else Some(key -> Json.write(Json.array(some.toSeq.sorted.map(Json.text))))

  private def cluster(figures: SortedMap[String, String], health: ClusterHealth, now: java.time.Instant): JsonNode = {
    val own    = ofCluster.flatMap(key => figures.get(key).flatMap(_.toLongOption).map(key -> Json.number(_)))
    val silent = health.since.map(s => "failingSeconds" -> Json.number(Duration.between(s, now).getSeconds))
    Json.obj(own ++ Seq("failures" -> Json.number(health.failures.toLong)) ++ silent: _*)
  }

  private def skipped(figures: SortedMap[String, String]): Long =
    figures.get(ProgressMetric.RowsSkipped).flatMap(_.toLongOption).getOrElse(0L)

  private def summed: Seq[(String, String)] =
    sums.flatMap(key => values(key).reduceOption(_ + _).map(key -> _.toString))

  private def greatest: Seq[(String, String)] =
    Seq(ProgressMetric.SecondsBehind).flatMap(key => values(key).maxOption.map(key -> _.toString))

  private def values(key: String): Seq[Long] = last.values.flatMap(_.get(key)).flatMap(_.toLongOption).toSeq
}

private[dynamic] object ClusterReports {

  private val sums = Seq(
    ProgressMetric.RowsBehind,
    ProgressMetric.BytesBehind,
    ProgressMetric.RowsArriving,
    ProgressMetric.PollMillis,
    ProgressMetric.FetchMillis,
    ProgressMetric.ReadersOpened,
    ProgressMetric.ReadersReused
  )

  private val ofCluster = Seq(
    ProgressMetric.Splits,
    ProgressMetric.RowsBehind,
    ProgressMetric.BytesBehind,
    ProgressMetric.SecondsBehind,
    ProgressMetric.RowsArriving,
    ProgressMetric.MetadataAge
  )
}
