// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.split

import scala.collection.immutable.SortedMap
import scala.collection.mutable
import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import splice.source.LogPartition

final class PartitionJsonSuite extends AnyFunSuite {

  private val values =
    SortedMap(
      LogPartition("orders", 10) -> 7L,
      LogPartition("orders", 9)  -> Long.MaxValue,
      LogPartition("a\"b", 0)    -> -2L
    )

  /** Algorithm of Spark's source: hash maps that are filled in the order of topics and partitions. */
  private def sparks(values: SortedMap[LogPartition, Long]): String = {
    val result = new mutable.HashMap[String, mutable.HashMap[Int, Long]]
    values.foreach { case (p, offset) =>
      val parts = result.getOrElse(p.topic, new mutable.HashMap[Int, Long])
      parts += p.partition -> offset
      result += p.topic    -> parts
    }
    result.iterator
      .map { case (topic, parts) => s"\"$topic\":" + parts.map { case (p, o) => s"\"$p\":$o" }.mkString("{", ",", "}") }
      .mkString("{", ",", "}")
  }

  test("topics and partitions are in the order of Spark's source") {
    assert(PartitionJson.write(SortedMap.empty[LogPartition, Long]) == "{}")
    val random = new Random(7)
    (1 to 200).foreach { i =>
      val some = (0 until random.nextInt(30)).flatMap { _ =>
        val topic = s"topic-${random.nextInt(1000)}"
        val all   = 0 until 1 + random.nextInt(40)
        val read  = if (random.nextBoolean()) all else all.filter(_ => random.nextBoolean())
        read.map(p => LogPartition(topic, if (i % 2 == 0) p else p * 37) -> random.nextInt(100).toLong)
      }
      assert(PartitionJson.write(SortedMap.from(some)) == sparks(SortedMap.from(some)))
    }
    val many = SortedMap.from((0 until 20000).map(p => LogPartition("t", p) -> p.toLong))
    assert(PartitionJson.write(many) == sparks(many))
  }

  test("topic names are escaped, and leading zeros encode the generation") {
    assert(PartitionJson.write(SortedMap(LogPartition("a\"b", 0) -> -2L)) == """{"a\"b":{"0":-2}}""")
    assert(PartitionJson.write(SortedMap(LogPartition("t", 1) -> 2L), Map("t" -> 2)) == """{"t":{"001":2}}""")
  }

  test("the JSON is read in any order") {
    assert(PartitionJson.read(PartitionJson.write(values)).contains(values))
    assert(PartitionJson.read("""{ "t" : {"1": 2, "0": 1} }""").map(_.values.toSeq).contains(Seq(1L, 2L)))
  }

  test("any other text is rejected") {
    Seq(
      "",
      "{",
      "[]",
      "7",
      """{"t":7}""",
      """{"t":{"-1":7}}""",
      """{"t":{"0":1.5}}""",
      """{"t":{"0":null}}"""
    ).foreach { text =>
      assert(PartitionJson.read(text).isEmpty, text)
    }
  }
}
