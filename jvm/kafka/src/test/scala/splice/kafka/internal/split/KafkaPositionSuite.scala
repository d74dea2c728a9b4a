// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.split

import org.scalatest.funsuite.AnyFunSuite

import splice.kafka.internal.enumerator.SimulatedRun.at
import splice.source.errors.SpliceException

final class KafkaPositionSuite extends AnyFunSuite {

  test("the JSON equals the JSON of Spark's Kafka source") {
    assert(at(10 -> 7, 0 -> 5).json == """{"t":{"0":5,"10":7}}""")
    assert(KafkaPosition.read("""{"t":{"10":7,"0":5}}""") == at(0 -> 5, 10 -> 7))
  }

  test("precedes compares the partitions, and a later position may lack a topic but not a single partition") {
    assert(at(0 -> 5, 1 -> 7).precedes(at(0 -> 5, 1 -> 8)))
    assert(!at(0 -> 5, 1 -> 7).precedes(at(0 -> 6, 1 -> 6)))
    assert(at(0 -> 5).precedes(at(0 -> 5, 1 -> 0)) && !at(0 -> 5, 1 -> 3).precedes(at(0 -> 6)))
  }

  test("JSON of another source or with negative offsets is rejected") {
    Seq("""{"v":1,"legs":{}}""", """{"logOffset":3}""", """{"t":{"0":-1}}""", "0").foreach { text =>
      val error = intercept[SpliceException](KafkaPosition.read(text))
      assert(error.getCondition == "SPLICE_CHECKPOINT.OTHER_SOURCE" && error.getMessage.contains(text))
    }
  }
}
