// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.enumerator

import scala.collection.immutable.{SortedMap, SortedSet}

import org.scalatest.funsuite.AnyFunSuite

import splice.source.{LogPartition, OnGap, SpliceException, StartPosition}

final class ClusterStartSuite extends AnyFunSuite {

  private val read = SortedMap("east" -> SortedSet("x", "both"), "west" -> SortedSet("y", "both"))

  private def offsets(topics: String*): StartPosition = {
    def all(offset: Long) = SortedMap.from(topics.map(LogPartition(_, 0) -> offset))
    StartPosition.Offsets(all(5), OnGap.Fail, all(2))
  }

  private def refusal(at: StartPosition): SpliceException = intercept[SpliceException](ClusterStart.check(at, read))

  test("each cluster is asked for the offsets of its own topics") {
    ClusterStart.check(offsets("x", "y"), read)
    assert(ClusterStart(offsets("x", "y"), read("west")) == offsets("y"))
  }

  test("offsets of a topic that is on no cluster are not left out silently") {
    val error = refusal(offsets("x", "z"))
    assert(error.getCondition == "SPLICE_KAFKA.NOT_IN_LOG" && error.getMessage.contains("z-0"))
    assert(!error.getMessage.contains("x-0"))
  }

  test("offsets of a topic that is on two clusters are those of neither") {
    val error = refusal(offsets("x", "both"))
    assert(error.getCondition == "SPLICE_DYNAMIC.SEVERAL_CLUSTERS")
    assert(error.getMessage.contains("both on east and west"))
  }

  test("any other start is every cluster's") {
    Seq(StartPosition.Configured, StartPosition.Timestamp(7, OnGap.Fail)).foreach { at =>
      ClusterStart.check(at, read)
      assert(ClusterStart(at, read("west")) == at)
    }
  }
}
