// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.bench.cost

import java.nio.file.{Files, Path}
import java.util.concurrent.ConcurrentLinkedQueue

import scala.jdk.CollectionConverters._
import scala.util.Using

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.streaming.{StreamingQuery, Trigger}
import org.apache.spark.sql.{DataFrame, SaveMode, SparkSession}

import splice.bench.{BenchPlan, Columns, KafkaLoad, Median, Queries, Report, TopicSpec}

/** Cost of an exact hand-over: counting a history while it is read, and the switch to the log.
  *
  * Each history is an archive of the first records of a topic, with all columns of Kafka, in Parquet files.
  */
final class HandOverCost(spark: SparkSession, servers: String, plan: BenchPlan) {

  import HandOverCost._

  private val load = new KafkaLoad(servers)

  def run(): String = s"${counts()}\n\n${switches()}"

  /** Reads a history with and without counts, in turns. The log has no record after the history. */
  private def counts(): String = onTopic(TopicSpec(plan.rows, plan.bytes, plan.partitions)) { topic =>
    withArchive(topic, plan.rows, files = 16) { folder =>
      val rows = Seq(Columns.All, Columns.Value).flatMap { columns =>
        val pairs = (0 to plan.rounds).map { round =>
          val order = if (round % 2 == 0) Seq(true, false) else Seq(false, true)
          val took  = order.map(counted => counted -> backfill(topic, folder, columns, counted)).toMap
          println(f"  ${columns.title}%-20s counted ${took(true)}%6d ms, not ${took(false)}%6d ms")
          took
        }.drop(1)
        val ratios = pairs.map(pair => pair(false).toDouble / pair(true)).sorted
        Seq(Seq(
          columns.title,
          Median(pairs.map(_(false))).toString,
          Median(pairs.map(_(true))).toString,
          f"${Median(ratios)}%.2f",
          f"${ratios.head}%.2f–${ratios.last}%.2f"
        ))
      }
      val head =
        Seq("query selects", "without counts, ms", "with counts, ms", "without ÷ with, median", "minimum–maximum")
      (f"### A history with and without counts: ${plan.rows}%,d rows, 16 files; time of the batches of the history" +:
        "" +:
        Report.lines(head, rows)).mkString("\n")
    }
  }

  /** Returns the time of the batches that read the history, in milliseconds. */
  private def backfill(topic: TopicSpec, folder: Path, columns: Columns, counted: Boolean): Long = {
    val rule = if (counted) Exact else Map("live.startingOffsets" -> "latest")
    withCheckpoint { checkpoint =>
      val query = columns.of(chain(topic, folder, rule)).writeStream
        .format("noop")
        .option("checkpointLocation", checkpoint.toString)
        .trigger(Trigger.AvailableNow())
        .start()
      query.awaitTermination()
      val batches = query.recentProgress.filter(_.numInputRows > 0)
      expect(batches.map(_.numInputRows).sum, topic.rows)
      batches.map(_.durationMs.get("triggerExecution").longValue).sum
    }
  }

  /** Measures the time between the last row of the history and the first row of the log in the sink, and the batches
    * of the log.
    */
  private def switches(): String = {
    val live = LiveBatches * LiveRows
    onTopic(TopicSpec(HistoryRows + live, plan.bytes, plan.partitions)) { topic =>
      val rows = Seq(100, 10000).map { files =>
        withArchive(topic, HistoryRows, files) { folder =>
          val runs = (0 to plan.rounds).map { _ =>
            val run = oneSwitch(topic, folder)
            println(
              f"  $files%6d files: first row ${run.firstRow}%6.0f ms, first batch ${run.firstBatch}%6.0f ms, batch of the log ${run.batch}%6.0f ms"
            )
            run
          }.drop(1)
          val ratios = runs.map(run => run.firstRow / run.batch).sorted
          Seq(
            f"${parquetFiles(folder)}%,d",
            f"${Median(runs.map(_.batch))}%.0f",
            f"${Median(runs.map(_.firstRow))}%.0f",
            f"${Median(runs.map(_.firstBatch))}%.0f",
            f"${Median(ratios)}%.2f",
            f"${ratios.head}%.2f–${ratios.last}%.2f"
          )
        }
      }
      val head = Seq(
        "files",
        "batch of the log, ms",
        "to the first row of the log, ms",
        "to the end of its first batch, ms",
        "first row ÷ batch, median",
        "minimum–maximum"
      )
      (f"### The switch after a history of $HistoryRows%,d rows, batches of the log of $LiveRows%,d rows" +: "" +:
        Report.lines(head, rows)).mkString("\n")
    }
  }

  private def oneSwitch(topic: TopicSpec, folder: Path): Switched = {
    val rule = Exact + ("live.maxOffsetsPerTrigger" -> LiveRows.toString)
    withCheckpoint { checkpoint =>
      RowTimes.clear()
      val sink: (DataFrame, Long) => Unit = (rows, batch) =>
        rows.queryExecution.toRdd.foreachPartition(RowTimes.take(batch, _))
      val query = chain(topic, folder, rule).writeStream
        .foreachBatch(sink)
        .option("checkpointLocation", checkpoint.toString)
        .trigger(Trigger.AvailableNow())
        .start()
      query.awaitTermination()
      switched(query, topic.rows)
    }
  }

  private def switched(query: StreamingQuery, all: Long): Switched = {
    val batches = query.recentProgress.toSeq.filter(_.numInputRows > 0).map(p => p.batchId -> p.numInputRows)
    expect(batches.map(_._2).sum, all)
    val history = batches.scanLeft(0L)(_ + _._2).tail.indexOf(HistoryRows)
    if (history < 0) throw new IllegalStateException("a batch has rows of the history and of the log")
    val times = batches.map { case (batch, _) => RowTimes.of(batch) }
    // The last batch of the log may have fewer rows, so it is excluded.
    val live  = times.drop(history + 1).sliding(2).map(pair => pair(1).last - pair(0).last).toSeq.dropRight(1)
    val ended = times(history).last
    Switched(times(history + 1).first - ended, times(history + 1).last - ended, Median(live))
  }

  private def chain(topic: TopicSpec, folder: Path, rule: Map[String, String]): DataFrame = spark.readStream
    .format("splice")
    .options(Map(
      "source"                       -> "hybrid",
      "legs"                         -> "history,live",
      "history.source"               -> "files",
      "history.format"               -> "parquet",
      "history.path"                 -> folder.toString,
      "live.source"                  -> "kafka",
      "live.kafka.bootstrap.servers" -> servers,
      "live.subscribe"               -> topic.name
    ) ++ rule)
    .load()

  private def onTopic[A](topic: TopicSpec)(work: TopicSpec => A): A = {
    println(s"filling ${topic.name}")
    load.fill(topic)
    try work(topic)
    finally load.delete(topic.name)
  }

  /** Writes the first rows of a topic to the given number of Parquet files. */
  private def withArchive[A](topic: TopicSpec, rows: Long, files: Int)(work: Path => A): A = {
    val folder = Files.createTempDirectory("bench-archive")
    try {
      println(s"writing $files files")
      val until = (0 until topic.partitions).map(p => s""""$p":${rows / topic.partitions}""").mkString(",")
      spark.read
        .format("kafka")
        .option("kafka.bootstrap.servers", servers)
        .option("subscribe", topic.name)
        .option("endingOffsets", s"""{"${topic.name}":{$until}}""")
        .load()
        .write
        .mode(SaveMode.Overwrite)
        .option("maxRecordsPerFile", rows / files)
        .parquet(folder.toString)
      work(folder)
    } finally Queries.delete(folder)
  }

  private def parquetFiles(folder: Path): Int = Using.resource(Files.list(folder)) { files =>
    files.iterator.asScala.count(_.getFileName.toString.endsWith(".parquet"))
  }

  private def withCheckpoint[A](work: Path => A): A = {
    val checkpoint = Files.createTempDirectory("bench-checkpoint")
    try work(checkpoint)
    finally Queries.delete(checkpoint)
  }

  private def expect(read: Long, rows: Long): Unit =
    if (read != rows) throw new IllegalStateException(s"$read rows were read of $rows")
}

private object HandOverCost {

  private val HistoryRows = 1000000L
  private val LiveRows    = 500000L
  private val LiveBatches = 10L

  private val Exact = Map(
    "live.handOver"           -> "offsets",
    "live.handOver.topic"     -> "topic",
    "live.handOver.partition" -> "partition",
    "live.handOver.offset"    -> "offset"
  )

  /** Times of a switch in milliseconds. `firstRow` and `firstBatch` count from the last row of the history to the
    * first row and to the end of the first batch of the log. `batch` is the time between batches of the log.
    */
  final private case class Switched(firstRow: Double, firstBatch: Double, batch: Double)

  /** Times of the first and the last row of a batch at the sink, in milliseconds. */
  final private case class Times(first: Double, last: Double)

  /** Recorder of the times of rows. Tasks run in this JVM. */
  private object RowTimes {

    private val seen = new ConcurrentLinkedQueue[(Long, Times)]

    def clear(): Unit = seen.clear()

    /** Consumes the rows of a task and records their times. */
    def take(batch: Long, rows: Iterator[InternalRow]): Unit = if (rows.hasNext) {
      val first = System.nanoTime()
      rows.foreach(_ => ())
      val _ = seen.add(batch -> Times(first / 1e6, System.nanoTime() / 1e6))
    }

    def of(batch: Long): Times = {
      val tasks = seen.asScala.toSeq.collect { case (of, times) if of == batch => times }
      Times(tasks.map(_.first).min, tasks.map(_.last).max)
    }
  }
}
