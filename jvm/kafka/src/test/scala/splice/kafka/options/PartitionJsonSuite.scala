// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.options

import scala.collection.immutable.SortedMap

import org.scalatest.funsuite.AnyFunSuite

import splice.source.LogPartition

final class PartitionJsonSuite extends AnyFunSuite {

  private val values =
    SortedMap(
      LogPartition("orders", 10) -> 7L,
      LogPartition("orders", 9)  -> Long.MaxValue,
      LogPartition("a\"b", 0)    -> -2L
    )

  test("topics are sorted by name and partitions by number") {
    assert(PartitionJson.write(values) == """{"a\"b":{"0":-2},"orders":{"9":9223372036854775807,"10":7}}""")
    assert(PartitionJson.write(SortedMap.empty[LogPartition, Long]) == "{}")
  }

  test("what was written is read, whatever the order") {
    assert(PartitionJson.read(PartitionJson.write(values)).contains(values))
    assert(PartitionJson.read("""{ "t" : {"1": 2, "0": 1} }""").map(_.values.toSeq).contains(Seq(1L, 2L)))
  }

  test("anything else is not") {
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
