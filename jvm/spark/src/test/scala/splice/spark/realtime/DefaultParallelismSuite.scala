// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark.realtime

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.streaming.Trigger
import org.scalatest.funsuite.AnyFunSuite

/** Queries whose tasks run until the end of a batch or an epoch, with two cores and a greater
  * `spark.default.parallelism`.
  */
final class DefaultParallelismSuite extends AnyFunSuite with LiveQueries {

  override protected lazy val spark: SparkSession = SparkSession.builder()
    .master("local[2]")
    .config("spark.default.parallelism", "8")
    .config("spark.sql.streaming.realTimeMode.minBatchDuration", "500")
    .getOrCreate()

  test("all partitions are read during one batch") {
    create("batch", 8)
    (0 until 8).foreach(p => write("batch", p, numbers(p, 0 until 10)))
    val query = start("batch", long)
    try {
      whole("batch", (0 until 8).flatMap(p => numbers(p, 0 until 10)))
      assert(query.recentProgress.isEmpty)
    } finally query.stop()
  }

  test("all partitions are read in continuous mode, and their epochs are committed") {
    create("epochs", 8)
    (0 until 8).foreach(p => write("epochs", p, numbers(p, 0 until 10)))
    val query = start("epochs", continuous)
    try {
      whole("epochs", (0 until 8).flatMap(p => numbers(p, 0 until 10)))
      committed("epochs", Seq.fill(8)(10L): _*)
    } finally query.stop()
  }

  test("a query with more sources than cores fails by name") {
    val topics = Seq("first", "second", "third")
    topics.foreach(create(_, 1))
    val query = startFrame(topics.map(rows(_)).reduce(_ union _), "few", Trigger.RealTime("1 second"))
    try {
      val message = failure(query)
      assert(message.contains("[SPLICE_REAL_TIME.TOO_FEW_CORES]") && message.contains("can run 2 tasks"))
    } finally query.stop()
  }
}
