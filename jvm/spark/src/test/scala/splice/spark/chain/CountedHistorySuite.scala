// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark.chain

import java.nio.file.{Files, Path}
import java.util.concurrent.{CountDownLatch, TimeUnit}

import scala.collection.mutable
import scala.jdk.CollectionConverters._

import org.apache.spark.scheduler.{SparkListener, SparkListenerStageSubmitted}
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.functions.{col, lit, struct}
import org.apache.spark.sql.streaming.{StreamingQueryException, Trigger}
import org.scalatest.funsuite.AnyFunSuite

import splice.source.errors.SpliceException
import splice.spark.WithSpark
import splice.spark.internal.stream.SparkJobs
import splice.testkit.LoggedMessages
import splice.testkit.internal.memory.MemoryLog

/** A history whose rows are counted while they are read, and the jobs that run at a switch. */
final class CountedHistorySuite extends AnyFunSuite with WithSpark {

  private val Rows = 10
  private val Last = "splice.test.last"

  /** A log of two partitions with offsets 0 to 9 each, and a folder with one file per part of the log. */
  final private class World(val name: String, archived: (Int, (Int, Int))*) {
    val log: MemoryLog = new MemoryLog(name).addPartitions(2)
    for (p <- 0 to 1; i <- 0 until Rows) log.append(p, (p * Rows + i).toLong)

    val path: Path = Files.createDirectories(folder.resolve(s"$name-history"))
    archived.zipWithIndex.foreach { case (part, n) => write(n, part) }

    private def write(n: Int, part: (Int, (Int, Int))): Unit = {
      val (p, (from, until)) = part
      val created            = folder.resolve(s"$name-file-$n")
      spark.range(from.toLong, until.toLong, 1, 1)
        .select((col("id") + p * Rows).as("id"), lit(name).as("topic"), lit(p).as("partition"), col("id").as("offset"))
        .write.parquet(created.toString)
      val file = Files.list(created).iterator.asScala.find(_.toString.endsWith(".parquet")).get
      val _    = Files.move(file, this.file(n))
    }

    def file(n: Int): Path = path.resolve(s"$n.parquet")

    val out: mutable.Buffer[Long] = mutable.Buffer.empty

    def collect(rows: DataFrame): Unit = out ++= rows.collect().map(_.getLong(0))

    val options: Map[String, String] = Map(
      "source"                     -> "hybrid",
      "legs"                       -> "history,live",
      "history.source"             -> "files",
      "history.format"             -> "parquet",
      "history.path"               -> path.toString,
      "history.maxFilesPerTrigger" -> "1",
      "history.select"             -> "id",
      "live.source"                -> "memory",
      "live.log"                   -> name,
      "live.handOver"              -> "offsets",
      "live.select"                -> "id"
    )

    def stream(more: (String, String)*): DataFrame =
      spark.readStream.format("splice").options(options ++ more).load()

    /** Runs the stream to its end. Returns the numbers of tasks of the jobs that counted rows. */
    def run(trigger: Trigger = Trigger.AvailableNow(), more: Seq[(String, String)] = Nil)(
        sink: (DataFrame, Long) => Unit
    ): Seq[Int] = {
      val counted  = mutable.Buffer.empty[Int]
      val arrived  = new CountDownLatch(1)
      val listener = new SparkListener {
        override def onStageSubmitted(stage: SparkListenerStageSubmitted): Unit = counted.synchronized {
          if (stage.stageInfo.rddInfos.exists(_.name == SparkJobs.Name)) counted += stage.stageInfo.numTasks
          if (Option(stage.properties).exists(_.getProperty(Last) == name)) arrived.countDown()
        }
      }
      spark.sparkContext.addSparkListener(listener)
      try {
        val query = stream(more: _*).writeStream
          .foreachBatch(sink)
          .option("checkpointLocation", folder.resolve(s"$name-checkpoint").toString)
          .trigger(trigger)
          .start()
        query.awaitTermination()
      } finally {
        // Events arrive in order, so all events of the query have arrived when the event of this job arrives.
        spark.sparkContext.setLocalProperty(Last, name)
        spark.sparkContext.parallelize(Seq(1), 1).count()
        assert(arrived.await(1, TimeUnit.MINUTES))
        spark.sparkContext.setLocalProperty(Last, "")
        spark.sparkContext.removeSparkListener(listener)
      }
      counted.synchronized(counted.toSeq)
    }

    def tallies: Seq[Path] = {
      val leg = folder.resolve(s"$name-checkpoint/sources/0/splice/leg-history")
      Files.list(leg).iterator.asScala.filter(_.getFileName.toString.startsWith("tally-")).toSeq
    }

    /** Runs the stream until a kill in the sink of a batch. A killed driver stores no counts when it ends. */
    def killedAt(batch: Long, more: (String, String)*)(sink: (DataFrame, Long) => Unit): Unit = {
      val kept = mutable.Map.empty[Path, String]
      intercept[StreamingQueryException](run(more = more) { (rows, number) =>
        if (number == batch) {
          kept ++= tallies.map(tally => tally -> Files.readString(tally))
          throw new IllegalStateException("the run ends here")
        }
        sink(rows, number)
      })
      tallies.foreach(Files.delete)
      kept.foreach { case (tally, text) => Files.writeString(tally, text) }
    }

    /** Deletes all batches, and their rows. */
    def rollBack(): Unit = {
      Seq("offsets", "commits").map(logs => folder.resolve(s"$name-checkpoint/$logs"))
        .flatMap(logs => Files.list(logs).iterator.asScala.toSeq).foreach(Files.delete)
      out.clear()
    }

    val all: Seq[Long] = 0L until 2L * Rows
  }

  /** A world with lines of CSV, and a column `a` after the columns of the log. */
  private def csv(name: String, files: Seq[String]*): World = {
    val w = new World(name)
    files.zipWithIndex.foreach { case (lines, n) => write(w, n, lines) }
    w
  }

  private def write(w: World, n: Int, lines: Seq[String]): Unit = {
    val _ = Files.write(Files.createDirectories(folder.resolve(s"${w.name}-csv")).resolve(s"$n.csv"), lines.asJava)
  }

  private def ofCsv(w: World, a: String, more: (String, String)*): Seq[(String, String)] = Seq(
    "history.format"  -> "csv",
    "history.path"    -> folder.resolve(s"${w.name}-csv").toString,
    "history.schema"  -> s"id BIGINT, topic STRING, partition INT, offset BIGINT, a $a",
    "history.orderBy" -> "path"
  ) ++ more

  private def failure(body: => Any): String = intercept[StreamingQueryException](body).getMessage

  test("a switch runs no job if every file was read to its end") {
    val w = new World("whole", 0 -> (0 -> 4), 1 -> (0 -> 5), 0 -> (4 -> 7))
    assert(w.run()((rows, _) => w.collect(rows)).isEmpty)
    assert(w.out.sorted == w.all)
  }

  test("a bounded read, which runs no task before the switch, counts in a job") {
    val w    = new World("bounded", 0 -> (0 -> 4), 1 -> (0 -> 5))
    val read = spark.read.format("splice").options(w.options).load()
    assert(read.collect().map(_.getLong(0)).sorted.toSeq == w.all)
  }

  test("a bounded read counts the rows that it reads: a line that only a read of more columns drops is a hole") {
    Seq("id" -> "x,id,0,1,1", "offset" -> "1,offset,0,zz,1").foreach { case (name, line) =>
      val w    = csv(name, Seq(s"0,$name,0,0,1", line, s"2,$name,0,2,1"))
      val read =
        spark.read.format("splice").options(w.options ++ ofCsv(w, "INT", "history.mode" -> "DROPMALFORMED")).load()
      assert(read.collect().map(_.getLong(0)).sorted.toSeq == w.all)
      assert(read.count() == w.all.size)
    }
  }

  test("a bounded read rejects settings with which its tasks may skip other rows than its count") {
    val w = new World("bounded-skips", 0 -> (0 -> 4))
    Seq("ignoreMissingFiles" -> "true", "ignoreCorruptFiles" -> "true", "onFileChanged" -> "warn").foreach {
      case (option, value) =>
        val read  = spark.read.format("splice").options(w.options + (s"history.$option" -> value)).load()
        val error = intercept[SpliceException](read.collect())
        assert(error.getCondition == "SPLICE_HAND_OVER_DATA.COUNTS_LOST")
        assert(error.getMessage.contains(s"'history.$option' = '$value'"))
    }
  }

  test("a select in another case than the columns, and a schema with comments, read every row") {
    val w = new World("cases", 0 -> (0 -> 4), 1 -> (0 -> 5))
    Seq("csv", "json").foreach { format =>
      val path = folder.resolve(s"cases-$format").toString
      spark.read.parquet(w.path.toString).write.format(format).save(path)
      val rows = spark.read.format("splice").options(w.options ++ Map(
        "history.format" -> format,
        "history.path"   -> path,
        "history.schema" -> "id BIGINT COMMENT 'number', topic VARCHAR(9), partition INT, offset BIGINT",
        "history.select" -> "ID AS id, Topic AS topic",
        "live.select"    -> "ID AS id, Topic AS topic"
      )).load()
      assert(rows.collect().map(row => row.getLong(0) -> row.getString(1)).sorted.toSeq == w.all.map(_ -> w.name))
    }
  }

  test("fields of structs and decimals are counted exactly, in column batches, rows and text") {
    val w    = new World("nested", 0 -> (0 -> 4), 1 -> (0 -> 5))
    val rows = spark.read.parquet(w.path.toString)
    val wide = rows.select(
      col("id"),
      struct(
        col("topic"),
        struct(col("partition").cast("DECIMAL(20,0)").as("n")).as("part"),
        col("offset").cast("DECIMAL(38,2)").as("at.offset")
      ).as("kafka")
    )
    Seq("parquet", "orc", "json").foreach { format =>
      val path = folder.resolve(s"nested-$format").toString
      wide.write.format(format).save(path)
      def read(more: (String, String)*) = spark.read.format("splice").options(w.options ++ Map(
        "history.format"          -> format,
        "history.path"            -> path,
        "history.schema"          -> wide.schema.toDDL,
        "live.handOver.topic"     -> "kafka.topic",
        "live.handOver.partition" -> "Kafka.part.n",
        "live.handOver.offset"    -> "kafka.`at.offset`"
      ) ++ more).load()
      assert(read().collect().map(_.getLong(0)).sorted.toSeq == w.all, format)
      val error = intercept[SpliceException](read("live.handOver.offset" -> "kafka.at.offset").collect())
      assert(error.getCondition == "SPLICE_HAND_OVER.COLUMN_NOT_FOUND")
    }
    val out = new World("flat", 0 -> (0 -> 4))
    val odd = folder.resolve("flat-odd").toString
    spark.read.parquet(out.path.toString).select(
      col("id"),
      col("topic"),
      col("partition"),
      (col("offset") + lit(BigDecimal("0.5"))).as("offset")
    ).write.parquet(odd)
    val error = intercept[SpliceException] {
      spark.read.format("splice").options(out.options + ("history.path" -> odd)).load().collect()
    }
    assert(error.getCondition == "SPLICE_HAND_OVER_DATA.INVALID_OFFSETS" && error.getMessage.contains("in 4 rows"))
  }

  test("computed rows are also counted") {
    val w = new World("computed", 0 -> (0 -> 4), 1 -> (0 -> 5))
    assert(w.run(more = Seq("history.select" -> "id + 0 AS id"))((rows, _) => w.collect(rows)).isEmpty)
    assert(w.out.sorted == w.all)
  }

  test("a file that a query does not read to its end is counted by a job") {
    val w       = new World("limit", 0 -> (0 -> 4), 1 -> (0 -> 5), 0 -> (4 -> 7))
    val counted = w.run() { (rows, batch) =>
      if (batch == 1) { val _ = rows.limit(1).collect() }
      w.collect(rows.where(lit(batch != 1)))
    }
    assert(counted == Seq(1))
    assert(w.out.sorted == w.all.filterNot(id => id >= Rows && id < Rows + 5))
  }

  test("a stop keeps the counts of committed batches, and after a kill, a job counts their files") {
    Seq(false -> Nil, true -> Seq(2)).foreach { case (killed, expected) =>
      val w = new World(s"stopped-$killed", 0 -> (0 -> 4), 1 -> (0 -> 5), 0 -> (4 -> 7))
      intercept[StreamingQueryException](w.run() { (rows, batch) =>
        if (batch == 2) throw new IllegalStateException("the run ends here")
        w.collect(rows)
      })
      assert(w.tallies.size == 1)
      // A killed driver stores no counts when it ends.
      if (killed) w.tallies.foreach(Files.delete)
      assert(w.run()((rows, _) => w.collect(rows)) == expected)
      assert(w.out.sorted == w.all)
    }
  }

  test("a run of one batch keeps the counts of that batch") {
    val w = new World("once", 0 -> (0 -> 4), 1 -> (0 -> 5))
    @annotation.nowarn("cat=deprecation")
    val once = Trigger.Once()
    assert(w.run(once)((rows, _) => w.collect(rows)).isEmpty && w.out.size == 9)
    assert(w.run(once)((rows, _) => w.collect(rows)).isEmpty)
    assert(w.out.sorted == w.all)
  }

  test("a file that is deleted after its batch keeps its count in spite of a kill") {
    val w       = new World("vanished", 1 -> (0 -> 5), 0 -> (0 -> 4), 0 -> (4 -> 7))
    val missing = "history.ignoreMissingFiles" -> "true"
    w.killedAt(2, missing)((rows, _) => w.collect(rows))
    Files.delete(w.file(0))
    assert(w.run(more = Seq(missing))((rows, _) => w.collect(rows)).isEmpty)
    assert(w.out.sorted == w.all)
  }

  test("a skipped file is counted as skipped in spite of a kill") {
    val w       = new World("absent", 0 -> (0 -> 4), 1 -> (0 -> 5), 0 -> (4 -> 7))
    val kept    = folder.resolve("absent-kept")
    val missing = "history.ignoreMissingFiles" -> "true"
    w.killedAt(2, missing) { (rows, batch) =>
      if (batch == 0) Files.move(w.file(1), kept)
      w.collect(rows)
    }
    Files.move(kept, w.file(1))
    assert(w.run(more = Seq(missing))((rows, _) => w.collect(rows)).isEmpty)
    assert(w.out.sorted == w.all, "partition 1 begins at its first record")
  }

  test("a kill between a commit and its progress loses the counts of a leg that may skip files: the query fails") {
    val w       = new World("window", 0 -> (0 -> 4), 1 -> (0 -> 5), 0 -> (4 -> 7))
    val missing = "history.ignoreMissingFiles" -> "true"
    w.killedAt(2, missing)((rows, _) => w.collect(rows))
    w.tallies.foreach(Files.delete)
    val error = failure(w.run(more = Seq(missing))((rows, _) => w.collect(rows)))
    assert(error.contains("SPLICE_HAND_OVER_DATA.COUNTS_LOST") &&
      error.contains("'history.ignoreMissingFiles' to 'false'"))
    assert(w.run()((rows, _) => w.collect(rows)) == Seq(2))
    assert(w.out.sorted == w.all)
  }

  test("a file without counts that is deleted stops the query, which continues with the restored file") {
    val w = new World("restored", 1 -> (0 -> 5), 0 -> (0 -> 4), 0 -> (4 -> 7))
    w.killedAt(2)((rows, _) => w.collect(rows))
    assert(w.tallies.isEmpty)
    val kept  = Files.move(w.file(0), folder.resolve("restored-kept"))
    val error = failure(w.run()((rows, _) => w.collect(rows)))
    assert(error.contains("SPLICE_HAND_OVER_DATA.FILE_NOT_COUNTED") && error.contains("SPLICE_FILES.FILE_NOT_FOUND"))
    Files.move(kept, w.file(0))
    assert(w.run()((rows, _) => w.collect(rows)) == Seq(2))
    assert(w.out.sorted == w.all)
  }

  test("after a rollback, the counts belong to the files that are listed again") {
    val drop     = "history.mode" -> "DROPMALFORMED"
    val lines    = (name: String) => Seq(s"0,$name,0,0,1", s"1,$name,0,1,z", s"2,$name,0,2,3")
    val rest     = (name: String) => Seq(s"3,$name,0,3,1")
    val stopping = (w: World) =>
      (rows: DataFrame, batch: Long) => {
        if (batch == 2) throw new IllegalStateException("the run ends here")
        w.collect(rows)
      }

    val more = csv("corrected", lines("corrected"), rest("corrected"), Seq("4,corrected,0,4,1"))
    failure(more.run(more = ofCsv(more, "INT", drop))(stopping(more)))
    assert(more.tallies.size == 1)
    more.rollBack()
    more.run(more = ofCsv(more, "STRING", drop))((rows, _) => more.collect(rows))
    assert(more.out.sorted == more.all)

    val fewer = csv("moved", lines("moved"), rest("moved"), Seq("4,moved,0,4,1"))
    failure(fewer.run(more = ofCsv(fewer, "STRING"))(stopping(fewer)))
    fewer.rollBack()
    Files.delete(folder.resolve("moved-csv/0.csv"))
    fewer.run(more = ofCsv(fewer, "STRING", drop))((rows, _) => fewer.collect(rows))
    assert(fewer.out.sorted == fewer.all)

    val split = csv("split", lines("split"), rest("split"))
    val wrong = ofCsv(split, "STRING", "history.sep" -> ";")
    assert(failure(split.run(more = wrong)((_, _) => ())).contains("SPLICE_HAND_OVER_DATA.INVALID_OFFSETS"))
    split.rollBack()
    split.run(more = ofCsv(split, "STRING"))((rows, _) => split.collect(rows))
    assert(split.out.sorted == split.all)
  }

  test("after a rollback behind a switch, files that are listed again stop the query with both ends") {
    val w = csv("switched", Seq("0,switched,0,0,1"), Seq("1,switched,0,1,1"))
    w.run(more = ofCsv(w, "INT"))((rows, _) => w.collect(rows))
    assert(w.out.sorted == w.all)
    w.rollBack()
    w.run(more = ofCsv(w, "INT"))((rows, _) => w.collect(rows))
    assert(w.out.sorted == w.all, "the same files end at the same position")
    w.rollBack()
    write(w, 2, Seq("2,switched,0,2,1"))
    val error = failure(w.run(more = ofCsv(w, "STRING"))((rows, _) => w.collect(rows)))
    assert(error.contains("SPLICE_HYBRID.OTHER_END") && error.contains("\"files\":2") && error.contains("\"files\":3"))
  }

  test("Splice warns if it reads a leg again that may skip files, and the start of the next leg is stored") {
    val w        = new World("again", 0 -> (0 -> 4), 1 -> (0 -> 5))
    def run()    = w.run(more = Seq("history.ignoreMissingFiles" -> "true"))((rows, _) => w.collect(rows))
    def warnings = LoggedMessages.during("splice.hybrid.internal.tally.Tallies")(run())._2
    assert(warnings.isEmpty)
    w.rollBack()
    val texts = warnings
    assert(texts.nonEmpty && texts.forall { text =>
      text.contains("leg 'history'") && text.contains("'history.ignoreMissingFiles' = 'true'")
    })
  }

  test("copied rows stop the query at the switch, with their offsets") {
    val w     = new World("copied", 0 -> (0 -> 4), 0 -> (2 -> 4))
    val error = intercept[StreamingQueryException](w.run()((rows, _) => w.collect(rows)))
    assert(error.getMessage.contains("copied-0 has 6 rows of 4 offsets in 'history' (2 to 3 several times)"))
  }

  test("a column that does not exist stops the query before the first row") {
    val w     = new World("columns", 0 -> (0 -> 4))
    val error = intercept[StreamingQueryException] {
      w.run(more = Seq("live.handOver.offset" -> "kafka_offset"))((rows, _) => w.collect(rows))
    }
    assert(error.getMessage.contains("SPLICE_HAND_OVER.COLUMN_NOT_FOUND"), error.getMessage)
    assert(w.out.isEmpty)
  }
}
