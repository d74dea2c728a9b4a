// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark.realtime

import org.scalatest.funsuite.AnyFunSuite

/** Queries of several sources in Spark's real-time mode, with two cores. */
final class RealTimeUnionSuite extends AnyFunSuite with LiveQueries {

  test("two sources share the cores, and the rows of both sources are read during one batch") {
    Seq("left", "right").foreach { topic =>
      create(topic, 2)
      (0 until 2).foreach(p => write(topic, p, numbers(p, 0 until 10)))
    }
    val query = startFrame(rows("left").union(rows("right")), "cores", long)
    try {
      Seq("left", "right").foreach(whole(_, (0 until 2).flatMap(p => numbers(p, 0 until 10))))
      assert(query.recentProgress.isEmpty)
    } finally query.stop()
  }

  test("the slots that the user sets for two sources do not exceed the cores") {
    Seq("slots-left", "slots-right").foreach { topic =>
      create(topic, 2)
      (0 until 2).foreach(p => write(topic, p, numbers(p, 0 until 10)))
    }
    val both  = rows("slots-left", "slots" -> "2").union(rows("slots-right", "slots" -> "2"))
    val query = startFrame(both, "slots", long)
    try Seq("slots-left", "slots-right").foreach(whole(_, (0 until 2).flatMap(p => numbers(p, 0 until 10))))
    finally query.stop()
  }

  test("a query with more sources than cores fails by name") {
    val topics = Seq("first", "second", "third")
    topics.foreach { topic =>
      create(topic, 1)
      write(topic, 0, numbers(0, 0 until 10))
    }
    val query = startFrame(topics.map(rows(_)).reduce(_ union _), "few", long)
    try {
      val message = failure(query)
      assert(message.contains("[SPLICE_REAL_TIME.TOO_FEW_CORES]") && message.contains("3 sources of Splice"))
    } finally query.stop()
  }

  test("a change of one source ends the batch of all sources, and each row is read once") {
    Seq("changed", "steady").foreach { topic =>
      create(topic, 1)
      write(topic, 0, numbers(0, 0 until 10))
    }
    val query = startFrame(rows("changed").union(rows("steady")), "change", long)
    try {
      Seq("changed", "steady").foreach(whole(_, numbers(0, 0 until 10)))
      grow("changed", 2)
      write("changed", 1, numbers(1, 0 until 10))
      write("changed", 0, numbers(0, 10 until 20))
      whole("changed", numbers(0, 0 until 20) ++ numbers(1, 0 until 10))
      write("steady", 0, numbers(0, 10 until 20))
      whole("steady", numbers(0, 0 until 20))
    } finally query.stop()
  }

  test("a change ends the batch of a source whose own changes do not end batches") {
    Seq("ending", "lasting").foreach { topic =>
      create(topic, 1)
      write(topic, 0, numbers(0, 0 until 10))
    }
    val both  = rows("lasting", "endBatchOnChange" -> "false").union(rows("ending"))
    val query = startFrame(both, "lasts", long)
    try {
      Seq("ending", "lasting").foreach(whole(_, numbers(0, 0 until 10)))
      grow("lasting", 2)
      write("lasting", 1, numbers(1, 0 until 10))
      grow("ending", 2)
      write("ending", 1, numbers(1, 0 until 10))
      Seq("ending", "lasting").foreach(whole(_, (0 until 2).flatMap(p => numbers(p, 0 until 10))))
    } finally query.stop()
  }
}
