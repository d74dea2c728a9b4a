// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.streaming.StreamingQueryException
import org.scalatest.funsuite.AnyFunSuite

final class MicroBatchSuite extends AnyFunSuite with WithSpark {

  private def files(path: String, more: (String, String)*): DataFrame =
    spark.readStream.format("splice-files").option("format", "parquet").option("path", path).options(more.toMap).load()

  test("AvailableNow reads everything in batches of the source's own limit") {
    val query = drain(files(numbers("limits", 0, 1000, 6), "maxFilesPerTrigger" -> "2"), "limits")
    assert(query.recentProgress.count(_.numInputRows > 0) == 3)
    assert(idsOut("limits") == (0L until 1000L))
  }

  test("a second start finds nothing to do, and says where it is") {
    val path = numbers("again", 0, 50, 2)
    drain(files(path), "again")
    val query = drain(files(path), "again")
    assert(query.recentProgress.forall(_.numInputRows == 0))
    assert(idsOut("again") == (0L until 50L))
  }

  test("progress tells position and backlog") {
    val query    = drain(files(numbers("metrics", 0, 50, 4), "maxFilesPerTrigger" -> "2"), "metrics")
    val reported = query.recentProgress.filter(_.numInputRows > 0).map(_.sources.head.metrics.asScala)
    assert(reported.forall(_.contains("position")))
    assert(reported.last.get("bytesBehind").contains("0"))
  }

  test("a union of a source with itself reads each row twice") {
    val frame = files(numbers("union", 0, 20, 2))
    drain(frame.union(frame), "union")
    assert(idsOut("union") == (0L until 20L).flatMap(i => Seq(i, i)))
  }

  test("a checkpoint of another source is refused, and the difference named") {
    val first = numbers("first", 0, 5, 1)
    drain(files(first), "changed")
    val other = numbers("other", 0, 5, 1)
    val error = intercept[StreamingQueryException](drain(files(other), "changed"))
    assert(error.getMessage.contains("SPLICE_CHECKPOINT.CHANGED"))
    assert(error.getMessage.contains("/first'") && error.getMessage.contains("/other'"))
  }
}
