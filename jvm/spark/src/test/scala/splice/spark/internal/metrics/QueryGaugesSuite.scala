// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark.internal.metrics

import scala.jdk.CollectionConverters._

import com.codahale.metrics.MetricRegistry
import org.scalatest.funsuite.AnyFunSuite

final class QueryGaugesSuite extends AnyFunSuite {

  private def values(registry: MetricRegistry): Map[String, Any] =
    registry.getGauges.asScala.map { case (name, gauge) => name -> gauge.getValue }.toMap

  test("figures become gauges, including figures of topics and clusters, and are removed with their query") {
    val registry = new MetricRegistry
    val board    = new QueryGauges(registry, "q")
    board.show(Seq("rowsBehind" -> "5", "position" -> "{}", "topics" -> """{"a.b":{"rowsBehind":5,"partitions":2}}"""))
    assert(values(registry) ==
      Map("q.0.rowsBehind" -> 5L, "q.0.topics.a_b.rowsBehind" -> 5L, "q.0.topics.a_b.partitions" -> 2L))
    board.show(Seq("clusters" -> """{"east":{"available":1}}"""), Seq("clusters.east.topics.a.rowsBehind" -> 3L))
    assert(values(registry) == Map("q.0.clusters.east.available" -> 1L, "q.0.clusters.east.topics.a.rowsBehind" -> 3L))
    board.show(Seq("rowsBehind" -> "4"))
    assert(values(registry) == Map("q.0.rowsBehind" -> 4L))
    new QueryGauges(registry, "other").show(Seq("rowsBehind" -> "1"))
    board.close()
    assert(values(registry) == Map("other.0.rowsBehind" -> 1L))
  }

  test("a total becomes a counter, which has the total of the last report and is removed with its query") {
    val registry = new MetricRegistry
    val board    = new QueryGauges(registry, "q")
    def counters = registry.getCounters.asScala.map { case (name, counter) => name -> counter.getCount }.toMap
    board.show(Seq("switchesTotal" -> "1", "clusters" -> """{"east":{"failuresTotal":2,"available":0}}"""))
    assert(counters == Map("q.0.switchesTotal" -> 1L, "q.0.clusters.east.failuresTotal" -> 2L))
    assert(values(registry) == Map("q.0.clusters.east.available" -> 0L))
    board.show(Seq("switchesTotal" -> "4"))
    assert(counters == Map("q.0.switchesTotal" -> 4L) && values(registry).isEmpty)
    board.close()
    assert(registry.getMetrics.isEmpty)
    // The next run of the query begins at 0.
    board.show(Seq("switchesTotal" -> "0"))
    assert(counters == Map("q.0.switchesTotal" -> 0L))
  }

  test("each source of a query has separate gauges, and the query is counted once") {
    val registry = new MetricRegistry
    QueryGauges.open(registry)
    try {
      val boards = Seq("0", "1").map(new QueryGauges(registry, "two-sources", _))
      def own    = values(registry).filter(_._1.startsWith("two-sources"))
      def count  = values(registry).get("queries").collect { case n: Int => n }.getOrElse(0)
      val before = count
      boards.zipWithIndex.foreach { case (board, rows) => board.show(Seq("rowsBehind" -> rows.toString)) }
      assert(own == Map("two-sources.0.rowsBehind" -> 0L, "two-sources.1.rowsBehind" -> 1L))
      assert(count == before + 1)
      boards.head.close()
      assert(own == Map("two-sources.1.rowsBehind" -> 1L))
      boards.foreach(_.close())
      assert(own.isEmpty && count == before)
    } finally QueryGauges.close()
  }

  test("the end of one query does not remove the gauges of another query with the same name") {
    val registry = new MetricRegistry
    val (a, b)   = (new QueryGauges(registry, "q"), new QueryGauges(registry, "q"))
    a.show(Seq("rowsBehind" -> "5"))
    b.show(Seq("rowsBehind" -> "7"))
    assert(values(registry) == Map("q.0.rowsBehind" -> 7L))
    b.close()
    a.show(Seq("rowsBehind" -> "6"))
    assert(values(registry) == Map("q.0.rowsBehind" -> 6L))
    b.show(Seq("rowsBehind" -> "8"))
    a.close()
    assert(values(registry) == Map("q.0.rowsBehind" -> 8L))
    b.close()
    assert(registry.getMetrics.isEmpty)
  }

  test("a gauge has the name of its query, or the id of a query without a name") {
    def of(properties: (String, String)*) = QueryGauges.queryOf(properties.toMap.get(_).orNull)
    val id                                = "sql.streaming.queryId" -> "c0ffee"
    val rest                              = "\nid = c0ffee\nrunId = 1\nbatch = 3"
    assert(of() == "query" && of(id) == "c0ffee")
    assert(of(id, "spark.job.description" -> rest) == "c0ffee")
    assert(of(id, "spark.job.description" -> s"orders$rest") == "orders")
    assert(of(id, "spark.job.description" -> s"orders\nof 2026$rest") == "orders\nof 2026")
    assert(of(id, "spark.job.description" -> "a job of the user") == "c0ffee")
  }
}
