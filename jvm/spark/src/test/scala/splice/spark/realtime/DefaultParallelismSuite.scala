// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark.realtime

import org.apache.spark.sql.streaming.Trigger
import org.scalatest.funsuite.AnyFunSuite

import splice.source.TaskRanges
import splice.spark.internal.read.{SlotHome, SlotLocality}
import splice.testkit.internal.memory.MemoryRange

/** Queries whose tasks run until the end of a batch or an epoch, with two cores and a greater
  * `spark.default.parallelism`.
  */
final class DefaultParallelismSuite extends AnyFunSuite with LiveQueries {

  override protected def settings: Map[String, String] = super.settings + ("spark.default.parallelism" -> "8")

  test("only as many tasks as an executor can run prefer the executor") {
    val homes   = SlotLocality(spark.sparkContext)
    val address = spark.sparkContext.getExecutorMemoryStatus.keys.head
    homes.learn((0 until 3).map(_ -> SlotHome(address, "executor")))
    val tasks = (0 until 3).map { slot =>
      TaskRanges(Some(slot), IndexedSeq(MemoryRange("log", slot, 0, 1, slotted = true)))
    }
    assert(homes.locations(tasks).map(_.mkString) == Seq("executor", "executor", ""))
  }

  test("all partitions are read during one batch") {
    val all   = filled("batch", 8, 0 until 10)
    val query = start("batch", long)
    try {
      whole("batch", all)
      assert(query.recentProgress.isEmpty)
    } finally query.stop()
  }

  test("all partitions are read in continuous mode, and their epochs are committed") {
    val all   = filled("parallel", 8, 0 until 10)
    val query = start("parallel", continuous)
    try {
      whole("parallel", all)
      committed("parallel", Seq.fill(8)(10L): _*)
    } finally query.stop()
  }

  test("a query with more sources than cores fails by name") {
    val topics = Seq("one", "two", "three")
    topics.foreach(create(_, 1))
    val query = startFrame(topics.map(rows(_)).reduce(_ union _), "few", Trigger.RealTime("1 second"))
    try {
      val message = failure(query)
      assert(message.contains("[SPLICE_REAL_TIME.TOO_FEW_CORES]") && message.contains("can run 2 tasks"))
    } finally query.stop()
  }
}
