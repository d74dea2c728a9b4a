// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark.internal.read

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.streaming.{StreamingQueryException, Trigger}
import org.scalatest.funsuite.AnyFunSuite

import splice.source.runtime.Report
import splice.spark.WithSpark
import splice.spark.internal.stream.SparkJobs
import splice.testkit.internal.memory.{MemoryLog, MemoryOptions}

/** Reports from the readers of tasks to the enumerator. */
final class TaskReportsSuite extends AnyFunSuite with WithSpark {

  private def log(name: String, partitions: Int): MemoryLog = {
    val created = new MemoryLog(name).addPartitions(partitions)
    (0 until 12).foreach(i => created.append(i % partitions, i.toLong))
    created
  }

  private def run(log: MemoryLog, more: (String, String)*)(sink: (DataFrame, Long) => Unit): Unit = {
    val rows = spark.readStream.format("splice")
      .options(MemoryOptions.of(log, Seq("maxRows" -> "6", "slots" -> "2") ++ more: _*).toMap)
      .load()
    val query = rows.writeStream
      .foreachBatch(sink)
      .option("checkpointLocation", folder.resolve(s"${log.name}-checkpoint").toString)
      .trigger(Trigger.AvailableNow())
      .start()
    query.awaitTermination()
  }

  private val all: (DataFrame, Long) => Unit = (rows, _) => rows.write.format("noop").mode("overwrite").save()

  Seq("false", "true").foreach { columnar =>
    test(s"each range that was read to its end is reported before the next advance, columnar = $columnar") {
      val own = log(s"whole-$columnar", 2)
      run(own, "columnar" -> columnar)(all)
      val ranges = for (p <- 0 to 1; from <- Seq(0, 3)) yield Report(s"$p:$from-${from + 3}", Long.box(3L))
      assert(own.reported.toSet == ranges.toSet && own.reported.size == ranges.size)
    }
  }

  test("a task that stops early, or fails, sends no report") {
    val own = log("early", 1)
    own.failOnce(8)
    def read(): Unit =
      run(own) { (rows, batch) =>
        if (batch == 0) { val _ = rows.limit(1).collect() }
        else all(rows, batch)
      }
    intercept[StreamingQueryException](read())
    assert(own.reported.isEmpty && own.requested("failed") == 1)
    read()
    assert(own.reported == Seq(Report("0:6-12", Long.box(6L))))
  }

  test("a listener receives the report of a task before Spark commits the batch") {
    val own = log("listener", 1)
    run(own) { (rows, batch) =>
      all(rows, batch)
      assert(own.requested(s"received 0:${6 * batch}-${6 * batch + 6}") == 1 && own.reported.size == batch)
    }
    assert(own.reported.size == 2)
  }

  test("a batch that is read twice is reported twice") {
    val own = log("twice", 1)
    run(own) { (rows, batch) =>
      all(rows, batch)
      all(rows, batch)
    }
    assert(own.reported.map(_.range) == Seq("0:0-6", "0:0-6", "0:6-12", "0:6-12"))
  }

  test("work on executors returns its results in the order of the inputs") {
    val jobs = new SparkJobs(spark.sparkContext)
    assert(jobs.run(Seq("a", "bb", ""))(_ => Seq("localhost"))(_.length) == Seq(1, 2, 0))
    assert(jobs.run(Seq.empty[String])(_ => Nil)(_.length).isEmpty)
  }
}
