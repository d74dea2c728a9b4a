// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.lag

import scala.collection.immutable.SortedMap

import com.fasterxml.jackson.databind.JsonNode

import splice.source.{Json, ProgressMetric}

/** How far behind a query is.
  *
  * @param arriving
  *   rows a second that each topic gets
  * @param isKnown
  *   whether any end is known; a run that first repeats a batch has requested none
  */
final private[splice] case class Lag(
    partitions: Seq[PartitionLag],
    arriving: Map[String, Double],
    isKnown: Boolean = true
) {

  /** As the progress tells it: totals, topics, and the partitions that are furthest behind. Of a bounded size, however many there are. Empty
    * while no end is known.
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

  // What dashboards know that were made for Spark's own source.
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

  /** The figures of each topic. Empty while no end is known. */
  def ofTopics: SortedMap[String, Seq[(String, Long)]] =
    if (isKnown) SortedMap.from(byTopic.iterator.map { case (topic, own) =>
      topic -> Lag.numbers(own, arriving.get(topic))
    })
    else SortedMap.empty

  private def topics: Seq[(String, JsonNode)] = {
    val all           = byTopic.toSeq.sortBy { case (t, own) => (-own.map(_.rows).sum, t) }
    val (shown, rest) = all.splitAt(Lag.TopicsShown)
    val others        = rest.flatMap(_._2)
    shown.map { case (topic, own) => topic -> Lag.node(own, arriving.get(topic)) } ++
      (if (rest.isEmpty) None
       else Some(Lag.Others -> Lag.node(others, Lag.sumOf(rest.map(_._1).flatMap(arriving.get)))))
  }

  private def lagging: Seq[JsonNode] =
    partitions.filter(_.rows > 0).sortBy(p => (-p.rows, p.partition)).take(Lag.PartitionsShown).map { own =>
      val fields = Seq("partition" -> Json.text(own.partition.toString), "rowsBehind" -> Json.number(own.rows)) ++
        own.bytes.map("bytesBehind" -> Json.number(_)) ++ own.seconds.map("secondsBehind" -> Json.number(_))
      Json.obj(fields: _*)
    }
}

private[splice] object Lag {

  /** How many topics a progress names; the others are summed up. */
  val TopicsShown = 20

  /** How many partitions a progress names. */
  val PartitionsShown = 10

  /** Stands for the topics that are not named; no topic is called so. */
  val Others = "*"

  private def node(own: Seq[PartitionLag], arriving: Option[Double]): JsonNode =
    Json.obj(numbers(own, arriving).map { case (key, number) => key -> Json.number(number) }: _*)

  private def numbers(own: Seq[PartitionLag], arriving: Option[Double]): Seq[(String, Long)] =
    Seq("partitions" -> own.size.toLong, "rowsBehind" -> own.map(_.rows).sum) ++
      sum(own.map(_.bytes)).map("bytesBehind" -> _) ++
      own.flatMap(_.seconds).maxOption.map("secondsBehind" -> _) ++
      arriving.map(rows => "rowsArrivingPerSecond" -> math.round(rows))

  /** What is known of a sum; None when nothing is. */
  private def sum(values: Seq[Option[Long]]): Option[Long] =
    if (values.forall(_.isEmpty)) None else Some(values.flatten.sum)

  private def sumOf(rates: Seq[Double]): Option[Double] = if (rates.isEmpty) None else Some(rates.sum)

  private def rate(rows: Double): String = math.round(rows).toString
}
