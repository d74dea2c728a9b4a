// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark.internal.metrics

import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.atomic.AtomicReference
import java.util.regex.Pattern

import scala.jdk.CollectionConverters._

import com.codahale.metrics.{Counter, Gauge, Metric, MetricRegistry}
import org.apache.hadoop.fs.Path
import org.apache.spark.SparkContext

import splice.source.internal.entries.Json
import splice.source.runtime.ProgressMetric

/** The figures of one source of a query as gauges, and its totals as counters. The query's thread updates the figures,
  * and any thread may read the metrics.
  *
  * Queries of several sessions may have the same name. The metrics of such queries have the same names, and the query
  * that registered a metric last owns the metric. A query removes only its own metrics.
  *
  * @param query
  *   the name of the query, or its id if the query has no name
  * @param source
  *   the number or the name of the source in its query
  */
final private[spark] class QueryGauges(registry: MetricRegistry, val query: String, source: String = "0")
    extends AutoCloseable {

  private val figures         = new AtomicReference(Map.empty[String, Long])
  private var shown           = Map.empty[String, Metric]
  private def name(k: String) = s"${ProgressMetric.part(query)}.${ProgressMetric.part(source)}.$k"

  /** Shows these figures, and removes the metrics of all other figures. */
  def show(report: Iterable[(String, String)], gauges: Iterable[(String, Long)] = Nil): Unit = {
    val now = QueryGauges.numbers(report) ++ gauges
    val _   = QueryGauges.boards.add(this)
    figures.set(now)
    // Another query with the same name may register its metrics on another thread.
    registry.synchronized {
      val before = shown
      (before -- now.keySet).foreach { case (key, own) =>
        if (registered(key).exists(_ eq own)) registry.remove(name(key))
      }
      shown = now.map { case (key, _) => key -> before.getOrElse(key, metric(key)) }
      shown.foreach { case (key, own) =>
        if (!before.contains(key)) registry.remove(name(key))
        if (registered(key).isEmpty) registry.register(name(key), own)
      }
    }
  }

  private def registered(key: String): Option[Metric] = Option(registry.getMetrics.get(name(key)))

  private def metric(key: String): Metric = {
    def value = figures.get.getOrElse(key, 0L)
    if (key.endsWith(QueryGauges.Total))
      // The figure is already a total, so the counter returns the figure.
      new Counter { override def getCount: Long = value }
    else {
      val gauge: Gauge[Long] = () => value
      gauge
    }
  }

  override def close(): Unit = {
    show(Nil)
    val _ = QueryGauges.boards.remove(this)
  }
}

private[spark] object QueryGauges {

  /** Spark's local property with the id of the query that a thread runs. */
  private[spark] val QueryId = "sql.streaming.queryId"

  private val Description = "spark.job.description"

  /** End of the name of a figure that begins at 0 with the run of a query and never decreases within the run. */
  private val Total = "Total"

  private val current = new AtomicReference(Option.empty[MetricRegistry])

  private val boards = ConcurrentHashMap.newKeySet[QueryGauges]()

  /** Registers gauges in this registry from now on. One gauge is registered at once, because Spark reads a registry
    * later only if the registry has a gauge at the start.
    */
  def open(registry: MetricRegistry): Unit = {
    val queries: Gauge[Int] = () => boards.asScala.map(_.query).size
    val _                   = registry.register("queries", queries)
    current.set(Some(registry))
  }

  /** Ends the registration of gauges: queries that start later have no gauges. */
  def close(): Unit = current.set(None)

  /** Returns the board of a source of the query that this thread runs, or None without the plugin.
    *
    * @param source
    *   the folder of the source, `<checkpoint>/sources/<n>`, or `<checkpoint>/sources/<name>` of a named source
    */
  def ofSource(context: SparkContext, source: Path): Option[QueryGauges] = current.get.map { registry =>
    new QueryGauges(registry, queryOf(context.getLocalProperty(_)), source.getName)
  }

  /** Returns the name of the query that a thread or a task runs, or the id of a query without a name.
    *
    * @param property
    *   returns a local property of Spark, which may be null
    */
  def queryOf(property: String => String): String = Option(property(QueryId)).fold("query") { id =>
    // The job description is Spark's only local property with the name of the query: the first lines.
    val named = s"(?s)(.+?)\\s*\\nid = ${Pattern.quote(id)}\\n.*".r
    Option(property(Description)).collect { case named(name) => name }.getOrElse(id)
  }

  private[spark] def numbers(report: Iterable[(String, String)]): Map[String, Long] = report.flatMap {
    case (part @ (ProgressMetric.Topics | ProgressMetric.Clusters), json) =>
      for {
        all          <- Json.read(json).toSeq
        (name, node) <- Json.fields(all)
        (key, value) <- Json.fields(node)
      } yield s"$part.${ProgressMetric.part(name)}.$key" -> value.asLong
    case (key, text) => text.toLongOption.map(key -> _)
  }.toMap
}
