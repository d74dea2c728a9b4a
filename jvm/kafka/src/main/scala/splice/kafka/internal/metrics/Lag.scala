// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.metrics

import scala.collection.immutable.SortedMap

import com.fasterxml.jackson.databind.JsonNode

import splice.source.internal.entries.Json
import splice.source.runtime.ProgressMetric

/** The backlog of a query.
  *
  * @param arriving
  *   rows per second that producers append to each topic
  * @param isKnown
  *   true if the end of any partition is available; a run that first repeats a batch has requested no ends
  */
final private[splice] case class Lag(
    partitions: Seq[PartitionLag],
    arriving: Map[String, Double],
    isKnown: Boolean = true
) {

  /** The figures of the query progress: totals, topics, and the partitions with the largest backlog. The size is
    * bounded. Empty until an end is available.
    */
  def report: SortedMap[String, String] = if (isKnown) figures else SortedMap.empty

  private def figures: SortedMap[String, String] = SortedMap.from(
    Seq(ProgressMetric.RowsBehind -> partitions.iterator.map(_.rows).sum.toString) ++
      Lag.sum(partitions.map(_.bytes)).map(ProgressMetric.BytesBehind -> _.toString) ++
      partitions.flatMap(_.seconds).maxOption.map(ProgressMetric.SecondsBehind -> _.toString) ++
      Seq(
        ProgressMetric.RowsArriving -> Lag.rate(arriving.valuesIterator.sum),
        ProgressMetric.Topics       -> Json.write(Json.obj(topics: _*)),
        ProgressMetric.Lagging      -> Json.write(Json.array(lagging))
      ) ++ asSparks
  )

  // Dashboards for Spark's Kafka source read these names.
  private def asSparks: Seq[(String, String)] = {
    val rows = partitions.map(_.rows)
    if (rows.isEmpty) Nil
    else
      Seq(
        ProgressMetric.LeastBehind -> rows.min.toString,
        ProgressMetric.MostBehind  -> rows.max.toString,
        ProgressMetric.MeanBehind  -> (rows.sum.toDouble / rows.size).toString
      )
  }

  private lazy val byTopic: Map[String, Seq[PartitionLag]] = partitions.groupBy(_.partition.topic)

  /** The figures of each topic. Empty until an end is available. */
  def ofTopics: SortedMap[String, Seq[(String, Long)]] =
    if (isKnown) SortedMap.from(byTopic.iterator.map { case (topic, lags) =>
      topic -> Lag.numbers(lags, arriving.get(topic))
    })
    else SortedMap.empty

  private def topics: Seq[(String, JsonNode)] = {
    val all           = byTopic.toSeq.sortBy { case (t, lags) => (-lags.map(_.rows).sum, t) }
    val (shown, rest) = all.splitAt(Lag.TopicsShown)
    val others        = rest.flatMap(_._2)
    shown.map { case (topic, lags) => topic -> Lag.node(lags, arriving.get(topic)) } ++
      (if (rest.isEmpty) None
       else Some(Lag.Others -> Lag.node(others, Lag.sumOf(rest.map(_._1).flatMap(arriving.get)))))
  }

  private def lagging: Seq[JsonNode] =
    partitions.filter(_.rows > 0).sortBy(p => (-p.rows, p.partition)).take(Lag.PartitionsShown).map { lag =>
      val fields = Seq("partition" -> Json.text(lag.partition.toString), "rowsBehind" -> Json.number(lag.rows)) ++
        lag.bytes.map("bytesBehind" -> Json.number(_)) ++ lag.seconds.map("secondsBehind" -> Json.number(_))
      Json.obj(fields: _*)
    }
}

private[splice] object Lag {

  /** The greatest number of topics in a progress. The other topics are added up. */
  val TopicsShown = 20

  /** The greatest number of partitions in a progress. */
  val PartitionsShown = 10

  /** The name of the sum of all other topics. No topic can have this name. */
  val Others = "*"

  private def node(lags: Seq[PartitionLag], arriving: Option[Double]): JsonNode =
    Json.obj(numbers(lags, arriving).map { case (key, number) => key -> Json.number(number) }: _*)

  private def numbers(lags: Seq[PartitionLag], arriving: Option[Double]): Seq[(String, Long)] =
    Seq("partitions" -> lags.size.toLong, "rowsBehind" -> lags.map(_.rows).sum) ++
      sum(lags.map(_.bytes)).map("bytesBehind" -> _) ++
      lags.flatMap(_.seconds).maxOption.map("secondsBehind" -> _) ++
      arriving.map(rows => "rowsArrivingPerSecond" -> math.round(rows))

  /** The sum of the available values; None if no value is available. */
  private def sum(values: Seq[Option[Long]]): Option[Long] =
    if (values.forall(_.isEmpty)) None else Some(values.flatten.sum)

  private def sumOf(rates: Seq[Double]): Option[Double] = if (rates.isEmpty) None else Some(rates.sum)

  private def rate(rows: Double): String = math.round(rows).toString
}
