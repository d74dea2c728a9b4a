// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark.chain

import java.nio.file.Path

import scala.collection.mutable

import org.apache.spark.sql.functions.{col, lit}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streaming.{StreamingQueryException, Trigger}
import org.apache.spark.sql.{DataFrame, Row, classic}
import org.scalatest.funsuite.AnyFunSuite

import splice.spark.WithSpark
import splice.testkit.internal.memory.MemoryLog

/** A table before a log. Rows of the table are counted by the readers of its slices. */
final class TableHistorySuite extends AnyFunSuite with WithSpark {

  private val Rows    = 40
  private val Archive = 30

  /** A log of two partitions with offsets 0 to 39 each, and a table of their first 30 offsets in three slices of ten
    * offsets. The table has four files.
    */
  final private class World(name: String) {
    val log: MemoryLog = new MemoryLog(name).addPartitions(2)
    for (p <- 0 to 1; i <- 0 until Rows) log.append(p, (p * Rows + i).toLong)

    private val path: Path = folder.resolve(s"$name-table")
    for (p <- 0 to 1)
      spark.range(0, Archive.toLong, 1, 2)
        .select((col("id") + p * Rows).as("id"), lit(name).as("topic"), lit(p).as("partition"), col("id").as("offset"))
        .write.mode("append").parquet(path.toString)

    val out: mutable.Buffer[Long] = mutable.Buffer.empty

    val all: Seq[Long] = 0L until 2L * Rows

    def collect(rows: DataFrame): Unit = out ++= rows.collect().map(_.getLong(0))

    val options: Map[String, String] = Map(
      "source"                     -> "hybrid",
      "legs"                       -> "history,live",
      "history.source"             -> "table",
      "history.format"             -> "parquet",
      "history.path"               -> path.toString,
      "history.onNoVersion"        -> "warn",
      "history.sliceBy"            -> "offset",
      "history.sliceEvery"         -> "10",
      "history.maxBytesPerTrigger" -> "1",
      "history.select"             -> "id",
      "live.source"                -> "memory",
      "live.log"                   -> name,
      "live.handOver"              -> "offsets",
      "live.select"                -> "id"
    )

    /** Options of the table alone. */
    val ofTable: Map[String, String] =
      options.collect { case (key, value) if key.startsWith("history.") => key.stripPrefix("history.") -> value }

    def run(change: DataFrame => DataFrame = identity, options: Map[String, String] = options)(
        sink: (DataFrame, Long) => Unit
    ): Unit =
      change(spark.readStream.format("splice").options(options).load()).writeStream
        .foreachBatch(sink)
        .option("checkpointLocation", folder.resolve(s"$name-checkpoint").toString)
        .trigger(Trigger.AvailableNow())
        .start()
        .awaitTermination()

    /** Reads only the first task of a batch, to its end. */
    def firstTask(rows: DataFrame): Unit = {
      val rdd = rows.asInstanceOf[classic.Dataset[Row]].queryExecution.toRdd
      assert(rdd.getNumPartitions > 1)
      spark.sparkContext.runJob(rdd, (all: Iterator[_]) => all.size, Seq(0))
      ()
    }
  }

  /** Runs `body` with at most this size per partition: a partition has all files of the table, or a part of a file. */
  private def withParts[A](bytes: Int)(body: => A): A = {
    val settings = Map(
      SQLConf.FILES_MAX_PARTITION_BYTES.key -> bytes,
      SQLConf.FILES_OPEN_COST_IN_BYTES.key  -> 1,
      SQLConf.FILES_MIN_PARTITION_NUM.key   -> 1
    )
    settings.foreach { case (key, value) => spark.conf.set(key, value.toLong) }
    try body
    finally settings.keys.foreach(spark.conf.unset)
  }

  test("every row of the table and of the log arrives once, in ascending slices") {
    val w       = new World("sliced")
    val batches = mutable.Buffer.empty[Set[Long]]
    w.run() { (rows, _) =>
      batches += rows.collect().map(_.getLong(0) % Rows / 10).toSet
      w.collect(rows)
    }
    assert(w.out.sorted == w.all)
    assert(batches.take(3) == Seq(Set(0L), Set(1L), Set(2L)))
  }

  test("a bounded read has every row once") {
    val w    = new World("bounded-table")
    val read = spark.read.format("splice").options(w.options).load()
    assert(read.collect().map(_.getLong(0)).sorted.toSeq == w.all)
  }

  test("a slice of which a query reads one part only is counted as a whole at the end") {
    val w = new World("part")
    withParts(600)(w.run() { (rows, batch) =>
      if (batch == 1) w.firstTask(rows) else w.collect(rows)
    })
    val unread = w.all.filter(id => id % Rows / 10 == 1)
    assert(w.out.sorted == w.all.diff(unread))
  }

  test("a killed batch is read again with other parts of another plan, and is counted once") {
    Seq(600 -> 1000000, 1000000 -> 600).foreach { case (before, after) =>
      val w = new World(s"killed-$before")
      intercept[StreamingQueryException](withParts(before)(w.run() { (rows, batch) =>
        if (batch == 1) {
          w.firstTask(rows)
          throw new IllegalStateException("the run ends here")
        }
        w.collect(rows)
      }))
      withParts(after)(w.run()((rows, _) => w.collect(rows)))
      assert(w.out.sorted == w.all, s"$before, $after")
    }
  }

  test("a killed batch of a table without a log is read again with other parts, and has the same rows") {
    Seq(600 -> 1000000, 1000000 -> 600).foreach { case (before, after) =>
      val w                                          = new World(s"alone-$before")
      def run(sink: (DataFrame, Long) => Unit): Unit =
        w.run(_.select("id"), w.ofTable - "select")(sink)
      intercept[StreamingQueryException](withParts(before)(run { (rows, batch) =>
        if (batch == 1) throw new IllegalStateException("the run ends here")
        w.collect(rows)
      }))
      withParts(after)(run((rows, _) => w.collect(rows)))
      assert(w.out.sorted == w.all.filter(_ % Rows < Archive), s"$before, $after")
    }
  }

  test("a query that reads the table twice in a batch counts each row once") {
    val w = new World("twice")
    withParts(600)(w.run(rows => rows.union(rows))((rows, _) => w.collect(rows)))
    assert(w.out.sorted == (w.all ++ w.all).sorted)
  }
}
