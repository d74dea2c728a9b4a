// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.enumerator

import scala.collection.immutable.SortedMap
import scala.util.Using

import splice.kafka.dynamic.internal.split.{DynamicOffset, DynamicSplitRange}
import splice.source.errors.SpliceException
import splice.source.log.LogRange
import splice.source.options.FailOrWarn
import splice.source.{LogPartition, OffsetRanges, ReadMode, SplitEnumerator, StartPosition}

/** Tests of streams on many clusters as a leg of a chain, with inactive clusters. */
final class InactiveLegSuite extends TwoClusters {

  private def p(cluster: String): LogPartition = LogPartition(topic(cluster), 0)

  private def world(options: (String, String)*): SimulatedClusters = {
    val created = new SimulatedClusters(2, 1, 1, Seq("discoveryInterval" -> "5ms") ++ options: _*)
    created.logs.foreach { case (name, log) => log.fill(p(name).topic, 0, 10) }
    created
  }

  /** Sets clusters inactive, and waits until a running query has the metadata. */
  private def deactivate(clusters: SimulatedClusters, names: String*): Unit = {
    clusters.inactive = names.toSet
    clusters.awaitRefresh()
  }

  private def read(
      run: SplitEnumerator[DynamicOffset],
      from: DynamicOffset,
      until: DynamicOffset
  ): Set[(String, Long, Long)] =
    run.splits(from, until).collect { case r: DynamicSplitRange => (r.cluster, r.range.from, r.range.until) }.toSet

  private val handed = StartPosition.Offsets(SortedMap(p(east) -> OffsetRanges(4), p(west) -> OffsetRanges(7)))

  test(
    "a leg with a hand-over does not start while a cluster is inactive, and starts at its offsets when the cluster is active"
  ) {
    Seq("earliest", "latest").foreach { added =>
      val clusters = world("newPartitionsStartAt" -> added)
      clusters.inactive = Set(west)
      Seq(handed, StartPosition.Time(0, FailOrWarn.Fail)).foreach { at =>
        val error = intercept[SpliceException](Using.resource(clusters.start())(_.start(at)))
        assert(error.getCondition == "SPLICE_DYNAMIC_KAFKA.CLUSTER_INACTIVE" && error.getMessage.contains(west))
        assert(!error.getMessage.contains(east))
      }
      val compared = intercept[SpliceException](Using.resource(clusters.start()) { run =>
        clusters.ranges(run, SortedMap(p(east) -> 4L))
      })
      assert(compared.getCondition == "SPLICE_DYNAMIC_KAFKA.CLUSTER_INACTIVE" && compared.getMessage.contains(west))
      clusters.inactive = Set.empty
      Using.resource(clusters.start()) { run =>
        val ranges = clusters.ranges(run, SortedMap(p(east) -> 4L))
        assert(ranges == SortedMap(p(east) -> LogRange(0, 10), p(west) -> LogRange(0, 10)))
        val start = run.start(handed)
        assert(read(run, start, advance(run, start)) == Set((east, 4L, 10L), (west, 7L, 10L)))
      }
    }
  }

  test("a cluster that is inactive at the first start begins like a new cluster when it is active") {
    Seq("earliest" -> Set((west, 0L, 12L)), "latest" -> Set((west, 10L, 12L))).foreach { case (added, expected) =>
      val clusters = world("startingOffsets" -> "earliest", "newPartitionsStartAt" -> added)
      clusters.inactive = Set(west)
      Using.resource(clusters.start()) { run =>
        val start = run.start(StartPosition.Configured)
        val first = advance(run, start)
        assert(read(run, start, first) == Set((east, 0L, 10L)))
        assert(advance(run, first) == first)
        deactivate(clusters)
        val met = advance(run, first)
        clusters.logs(west).fill(p(west).topic, 0, 2)
        assert(read(run, first, advance(run, met)) == expected)
      }
    }
  }

  private val bounded = Seq("startingOffsets" -> "earliest", "endingOffsets" -> "latest")

  test("a bounded leg does not end while a cluster is inactive, and reads the cluster before its end") {
    val clusters = world(bounded: _*)
    clusters.inactive = Set(west)
    Using.resource(clusters.start()) { run =>
      val start = run.start(StartPosition.Configured)
      val first = advance(run, start)
      assert(read(run, start, first) == Set((east, 0L, 10L)))
      Seq(1, 2).foreach(_ => assert(run.evidence(first).isEmpty && advance(run, first) == first))
      deactivate(clusters)
      assert(run.evidence(first).isEmpty)
      val second = advance(run, first)
      assert(read(run, first, second) == Set((west, 0L, 10L)) && run.evidence(second).nonEmpty)
    }
  }

  test("a batch over a leg that would end without a cluster is rejected") {
    val clusters = world(bounded: _*)
    clusters.mode = ReadMode.Batch
    clusters.inactive = Set(west)
    Using.resource(clusters.start()) { run =>
      val end = advance(run, run.start(StartPosition.Configured))
      assert(intercept[SpliceException](run.evidence(end)).getCondition == "SPLICE_DYNAMIC_KAFKA.CLUSTER_INACTIVE")
    }
  }

  test(
    "a run that begins at the end commits the end of each cluster, and reports success only if all commits succeed"
  ) {
    val clusters = world(bounded ++ Seq("commitToGroup" -> "true", "kafka.group.id" -> "g"): _*)
    val end      = Using.resource(clusters.start())(run => advance(run, run.start(StartPosition.Configured))).json
    def commit() = Using.resource(clusters.start())(_.commitEnd(clusters.source.position(end)))
    def ends     = Seq(east, west).map(clusters.logs(_).commits.lastOption.map(_.values.toSet))
    clusters.inactive = Set(west)
    assert(!commit() && ends == Seq(Some(Set(10L)), None))
    clusters.inactive = Set.empty
    clusters.logs(east).commitsFail = true
    assert(!commit())
    clusters.logs(east).commitsFail = false
    assert(commit() && ends == Seq(Some(Set(10L)), Some(Set(10L))))
  }
}
