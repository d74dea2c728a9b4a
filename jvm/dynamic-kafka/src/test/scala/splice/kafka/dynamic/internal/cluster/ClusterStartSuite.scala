// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.cluster

import scala.collection.immutable.{SortedMap, SortedSet}

import org.scalatest.funsuite.AnyFunSuite

import splice.source.errors.SpliceException
import splice.source.log.OffsetRuns
import splice.source.options.FailOrWarn
import splice.source.{LogPartition, OffsetRanges, StartPosition}

final class ClusterStartSuite extends AnyFunSuite {

  private val read = SortedMap("east" -> SortedSet("x", "both"), "west" -> SortedSet("y", "both"))

  private def offsets(topics: String*): StartPosition = StartPosition.Offsets(SortedMap.from(topics.map { topic =>
    LogPartition(topic, 0) -> OffsetRanges(5, Vector(2L -> 3L), Some(OffsetRuns.of(2L -> 3L)))
  }))

  test("each cluster receives the offsets of its topics") {
    assert(ClusterStart(offsets("x", "y"), "west", read("west")) == offsets("y"))
    assert(ClusterStart(offsets("x"), "west", read("west")) == offsets())
  }

  test("each cluster receives the offsets of its topic, if several clusters have a topic of this name") {
    assert(ClusterStart(offsets("west/both", "x"), "west", read("west")) == offsets("both"))
    assert(ClusterStart(offsets("west/both", "x"), "east", read("east")) == offsets("x"))
  }

  test("merged values have the cluster in the name of a topic that several clusters have") {
    def values(topics: String*) = SortedMap.from(topics.map(LogPartition(_, 0) -> 1))
    val merged = ClusterStart.merged(SortedMap("east" -> values("x", "both"), "west" -> values("y", "both")), read)
    assert(merged == values("x", "y", "east/both", "west/both"))
    // Only one cluster has the second partition.
    val second = SortedMap("east" -> SortedMap(LogPartition("both", 1) -> 1))
    assert(ClusterStart.merged(second, read) == SortedMap(LogPartition("east/both", 1) -> 1))
  }

  test("history topics on one cluster or on no cluster are accepted") {
    ClusterStart.check(Set("x", "y", "z"), read)
    ClusterStart.check(Set.empty, read)
  }

  test("a history topic on two clusters is rejected") {
    val error = intercept[SpliceException](ClusterStart.check(Set("x", "both"), read))
    assert(error.getCondition == "SPLICE_DYNAMIC_KAFKA.AMBIGUOUS_HAND_OVER")
    assert(error.getMessage.contains("both on east and west") && !error.getMessage.contains("x on"))
  }

  test("any other start applies to every cluster") {
    Seq(StartPosition.Configured, StartPosition.Time(7, FailOrWarn.Fail)).foreach { at =>
      assert(ClusterStart(at, "west", read("west")) == at)
    }
  }
}
