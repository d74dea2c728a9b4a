// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark.chain

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.streaming.{StreamingQueryException, Trigger}
import org.apache.spark.sql.{DataFrame, Row}
import org.scalatest.funsuite.AnyFunSuite

import splice.spark.WithSpark
import splice.testkit.internal.memory.{MemoryLog, MemoryOptions}

/** A Parquet history, then a log in memory, as one stream. */
final class HybridSuite extends AnyFunSuite with WithSpark {

  private val Second = 1000L

  /** A log of two partitions with `rows` records, and a Parquet archive of the first `archived` records. */
  private def world(name: String, rows: Int, archived: Int): (MemoryLog, Map[String, String]) = {
    val log = new MemoryLog(name).addPartitions(2)
    (0 until rows).foreach(i => log.append(i % 2, i.toLong, i * Second))
    val path = folder.resolve(s"$name-history").toString
    spark
      .range(0, archived.toLong, 1, 4)
      .selectExpr("id", s"'$name' AS topic", "CAST(id % 2 AS INT) AS partition", "CAST(id / 2 AS BIGINT) AS offset")
      .write
      .parquet(path)
    val options = Map(
      "source"                     -> "hybrid",
      "legs"                       -> "history,live",
      "history.source"             -> "files",
      "history.format"             -> "parquet",
      "history.path"               -> path,
      "history.maxFilesPerTrigger" -> "2",
      "history.select"             -> "id, topic",
      "live.source"                -> "memory",
      "live.log"                   -> name,
      "live.handOver"              -> "offsets",
      "live.select"                -> "id, topic"
    )
    (log, options)
  }

  private def stream(options: Map[String, String]): DataFrame =
    spark.readStream.format("splice").options(options).load()

  private def legs(frame: DataFrame): DataFrame = frame.selectExpr("id", "_leg AS leg")

  private def out(name: String): Seq[Row] =
    spark.read.parquet(folder.resolve(s"$name-out").toString).orderBy("id").collect().toSeq

  test("one action of a batch plans once, even if it reads columns or if the plan was shown") {
    val (log, options) = world("planned", rows = 40, archived = 20)
    val frame          = legs(spark.read.format("splice").options(options).load())
    val shown          = frame.queryExecution.toString
    assert(shown.contains("hybrid") && frame.collect().length == 40 && frame.queryExecution.toRdd.count() == 40)
    assert(log.requested("start") == 1, "several executions of a DataFrame's plan are one run")
    log.append(0, 40, 40 * Second)
    assert(frame.collect().length == 40, "a DataFrame's plan keeps the ends of its first action")
    assert(frame.count() == 41 && log.requested("start") == 2, "another plan is another read")
  }

  test("AvailableNow reads the history and then the log, each row once") {
    val (_, options) = world("both", rows = 100, archived = 60)
    val query        = drain(legs(stream(options)), "both")
    assert(out("both") == (0 until 100).map(i => Row(i.toLong, if (i < 60) "history" else "live")))
    val progress = query.recentProgress.filter(_.numInputRows > 0).map(_.sources.head.metrics.asScala)
    assert(progress.map(_("leg")).toSeq == Seq("history", "history", "live"))
    assert(progress.map(_("switchesTotal")).toSeq == Seq("0", "0", "1"))
  }

  test("a restart continues in the log after the history was moved") {
    val (log, options) = world("moved", rows = 20, archived = 10)
    drain(legs(stream(options)), "moved")
    java.nio.file.Files.move(folder.resolve("moved-history"), folder.resolve("moved-archived"))
    (20 until 30).foreach(i => log.append(i % 2, i.toLong))
    drain(legs(stream(options)), "moved")
    assert(idsOut("moved") == (0L until 30L))
  }

  Seq("initial" -> "live", "history" -> "session", "chain" -> "files", "kafka" -> "path").foreach {
    case (first, second) =>
      test(s"a stream with legs named $first and $second, with a restart in each leg") {
        val name           = s"named-$first-$second"
        val (log, options) = world(name, rows = 20, archived = 10)
        val own            = options.map {
          case ("legs", _)                        => "legs"                           -> s"$first,$second"
          case (k, v) if k.startsWith("history.") => first + k.drop("history".length) -> v
          case (k, v) if k.startsWith("live.")    => second + k.drop("live".length)   -> v
          case other                              => other
        }
        def run(batches: Int): Unit = {
          val query = stream(own).select("id").writeStream
            .foreachBatch((rows: DataFrame, batch: Long) =>
              if (batch >= batches) throw new IllegalStateException("the run ends here")
              else rows.write.mode("append").parquet(folder.resolve(s"$name-out").toString)
            )
            .option("checkpointLocation", folder.resolve(s"$name-checkpoint").toString)
            .trigger(Trigger.AvailableNow())
            .start()
          if (batches == Int.MaxValue) query.awaitTermination()
          else {
            val ended = intercept[StreamingQueryException](query.awaitTermination())
            assert(ended.getMessage.contains("the run ends here"), ended.getMessage)
          }
        }
        run(1)
        run(2)
        run(Int.MaxValue)
        // The second leg has a separate entry for the start of a new partition.
        log.addPartitions(1)
        (20 until 30).foreach(i => log.append(i % 3, i.toLong))
        run(Int.MaxValue)
        assert(idsOut(name) == (0L until 30L))
      }
  }

  test("a bounded read of all legs") {
    val (log, options) = world("batch", rows = 50, archived = 30)
    def read           = spark.read.format("splice").options(options).load()
    assert(legs(read).orderBy("id").collect().toSeq == (0 until 50).map(i =>
      Row(i.toLong, if (i < 30) "history" else "live")
    ))
    assert(read.count() == 50)
    assert(read.groupBy("_leg").count().collect().toSet == Set(Row("history", 30L), Row("live", 20L)))
    log.append(0, 50)
    assert(read.count() == 51)
  }

  test("a bounded read starts its source once, although Spark plans the read several times") {
    val log = new MemoryLog("once").addPartitions(1)
    (0 until 10).foreach(i => log.append(0, i.toLong))
    val read = spark.read.format("splice").options(MemoryOptions.of(log, "columnar" -> "true").toMap)
    read.load().write.format("noop").mode("overwrite").save()
    assert(log.requested("start") == 1)
    log.append(0, 10)
    assert(read.load().agg("id" -> "max").head() == Row(10L) && log.requested("start") == 2)
  }

  test("some fields of a struct") {
    val (_, options) = world("structs", rows = 6, archived = 3)
    val list         = "named_struct('id', id, 'more', named_struct('topic', topic, 'twice', id * 2)) AS s"
    val read         =
      spark.read.format("splice").options(options ++ Map("history.select" -> list, "live.select" -> list)).load()
    assert(read.selectExpr("s.more.twice AS t").orderBy("t").collect().toSeq == (0 until 6).map(i => Row(i * 2L)))
  }

  test("a computed list keeps the time zone of the first start") {
    val (log, options) = world("zones", rows = 4, archived = 2)
    val lists          = Map(
      "history.select" -> "id, date_format(timestamp_millis(0), 'HH') AS hour",
      "live.select"    -> "id, date_format(timestamp, 'HH') AS hour"
    )
    drain(stream(options ++ lists), "zones")
    log.append(0, 4, millis = 0)
    val before = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    try drain(stream(options ++ lists), "zones")
    finally spark.conf.set("spark.sql.session.timeZone", before)
    assert(out("zones").map(_.getString(1)).distinct.size == 1)
    assert(idsOut("zones") == (0L until 5L))
  }

  test("a SQL table, read as a batch and as a stream") {
    val (_, options) = world("tables", rows = 8, archived = 4)
    val listed       = options.collect { case (k, v) if k != "source" => s"'$k' '$v'" }.mkString(", ")
    spark.sql(s"CREATE TABLE orders USING `splice-hybrid` OPTIONS ($listed)")
    try {
      assert(spark.sql("SELECT id FROM orders WHERE _leg = 'live'").count() == 4)
      drain(spark.readStream.table("orders").select("id"), "tables")
      assert(idsOut("tables") == (0L until 8L))
    } finally spark.sql("DROP TABLE orders")
  }

  test("a filter, a join and an aggregate over rows that are reused") {
    val (_, options) = world("reused", rows = 40, archived = 20)
    val computed     = Map("live.select" -> "id + 0 AS id, concat(topic, '') AS topic")
    val read         = spark.read.format("splice").options(options ++ computed).load()
    assert(read.where("id % 3 = 0").count() == 14)
    assert(read.join(read, "id").count() == 40)
    assert(read.collect().map(_.getLong(0)).sorted.toSeq == (0L until 40L))
  }
}
