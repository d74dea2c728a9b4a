// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark.chain

import java.nio.file.{Files, Path}
import java.util.concurrent.{CountDownLatch, TimeUnit}

import scala.collection.mutable
import scala.jdk.CollectionConverters._

import org.apache.spark.scheduler.{SparkListener, SparkListenerStageSubmitted}
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.functions.{col, lit}
import org.apache.spark.sql.streaming.{StreamingQueryException, Trigger}
import org.scalatest.funsuite.AnyFunSuite

import splice.spark.WithSpark
import splice.spark.internal.stream.SparkJobs
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

    val all: Seq[Long] = 0L until 2L * Rows
  }

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
    val w    = new World("dropped")
    val file = Files.createDirectories(folder.resolve("dropped-csv")).resolve("0.csv")
    Files.writeString(file, "0,dropped,0,0\nx,dropped,0,1\n2,dropped,0,2\n")
    val rows = spark.read.format("splice").options(w.options ++ Map(
      "history.format" -> "csv",
      "history.path"   -> file.getParent.toString,
      "history.schema" -> "id BIGINT, topic STRING, partition INT, offset BIGINT",
      "history.mode"   -> "DROPMALFORMED"
    )).load()
    assert(rows.collect().map(_.getLong(0)).sorted.toSeq == w.all)
    assert(rows.count() == w.all.size)
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

  test("a file that is deleted after its read and before the switch keeps its count") {
    val w       = new World("deleted", 1 -> (0 -> 5), 0 -> (0 -> 4))
    val counted = w.run(more = Seq("history.ignoreMissingFiles" -> "true")) { (rows, batch) =>
      w.collect(rows)
      if (batch == 0) Files.delete(w.file(0))
    }
    assert(counted.isEmpty)
    assert(w.out.sorted == w.all)
  }

  test("a skipped file is counted as skipped") {
    val w       = new World("skipped", 0 -> (0 -> 4), 1 -> (0 -> 5))
    val kept    = folder.resolve("skipped-kept")
    val counted = w.run(more = Seq("history.ignoreMissingFiles" -> "true")) { (rows, batch) =>
      if (batch == 0) Files.move(w.file(1), kept)
      else if (batch == 1) assert(rows.isEmpty)
      w.collect(rows)
      if (batch == 1) { val _ = Files.move(kept, w.file(1)) }
    }
    assert(counted.isEmpty)
    assert(w.out.sorted == w.all, "partition 1 begins at its first record")
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
