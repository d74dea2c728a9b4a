// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.streaming.{StreamingQuery, StreamingQueryException, Trigger}
import org.scalatest.funsuite.AnyFunSuite

import splice.testkit.internal.memory.MemoryLog

/** Runs of AvailableNow over several sources. */
final class AvailableNowSuite extends AnyFunSuite with WithSpark {

  private def log(name: String): MemoryLog = {
    val created = new MemoryLog(name).addPartitions(1)
    (0 until 5).foreach(id => created.append(0, id.toLong))
    created
  }

  private def ids(log: MemoryLog): DataFrame = spark.readStream.format("splice").option("source", "memory")
    .option("log", log.name).option("startingOffsets", "earliest").load().select("id")

  private def run(frame: DataFrame, name: String, trigger: Trigger = Trigger.AvailableNow())(
      sink: DataFrame => Unit
  ): StreamingQuery = {
    val query = frame.writeStream.foreachBatch((batch: DataFrame, _: Long) => sink(batch))
      .option("checkpointLocation", folder.resolve(name).toString).trigger(trigger).start()
    query.awaitTermination()
    query
  }

  test("every source is closed if a later source cannot determine its ends") {
    val (good, bad) = (log("good"), log("bad"))
    bad.failOnRequest("freeze")
    val error = intercept[StreamingQueryException](run(ids(good).union(ids(bad)), "closed")(_ => ()))
    assert(error.getMessage.contains("bad fails at the call freeze"))
    assert(good.requested("close") == good.requested("enumerator") && bad.requested("close") == 1)
  }

  test("the ends of all sources are determined before the first batch, also if a batch is repeated") {
    val (one, two) = (log("one"), log("two"))
    def grow()     = Seq(one, two).foreach(_.append(0, 99))
    def both       = ids(one).union(ids(two))
    def frozen     = Seq(one, two).map(_.requested("freeze"))
    intercept[StreamingQueryException](run(both, "ends") { batch =>
      assert(frozen == Seq(1, 1))
      grow()
      assert(batch.count() == 10)
      throw new IllegalStateException("the run ends here")
    })
    // The run that repeats the batch first reads the rows before its own start.
    val counts = scala.collection.mutable.ArrayBuffer.empty[Long]
    run(both, "ends") { batch =>
      assert(frozen == Seq(2, 2))
      grow()
      counts += batch.count()
    }
    assert(counts.toSeq == Seq(10L, 2L))
  }

  test("a run of one batch determines its ends, so the run fails if the source does not respond") {
    @annotation.nowarn("cat=deprecation")
    val once   = Trigger.Once()
    val own    = log("once")
    val counts = scala.collection.mutable.ArrayBuffer.empty[Long]
    run(ids(own), "once", once)(counts += _.count())
    own.append(0, 99)
    run(ids(own), "once", once)(counts += _.count())
    assert(counts.toSeq == Seq(5L, 1L) && own.requested("freeze") == 2)
    own.failOnRequest("freeze")
    val error = intercept[StreamingQueryException](run(ids(own), "once", once)(_ => ()))
    assert(error.getMessage.contains("once fails at the call freeze"))
  }
}
