// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.enumerator

import java.time.Instant

import scala.collection.immutable.SortedMap
import scala.util.Using

import org.scalatest.funsuite.AnyFunSuite

import splice.coordinator.internal.sidelog.MemorySideLog
import splice.source.LogPartition
import splice.source.log.{LogOutlook, LogRange}

/** Tests of the outlook of logs of several clusters. */
final class ClustersOutlookSuite extends AnyFunSuite {

  test("topics have the prefix of their cluster, and an inactive cluster is a warning") {
    val clusters    = new SimulatedClusters(clusters = 2, topics = 1, partitions = 1)
    val first       = clusters.logs.head._1
    val (east, all) = (s"$first/$first-topic-000", clusters.logs.keys.toSeq)
    clusters.write()
    def ask() = Using.resource(clusters.start(new MemorySideLog)) { run =>
      val known = run.outlook()
      (known.logs, known.warnings)
    }
    val (both, none) = ask()
    assert(both.keys.map(_.topic).toSeq == all.map(name => s"$name/$name-topic-000") && none.isEmpty)
    clusters.inactive = Set(all(1))
    val (one, warnings) = ask()
    assert(one == SortedMap(LogPartition(east, 0) -> LogOutlook(LogRange(0, 1), Some(Instant.ofEpochMilli(0)))))
    assert(warnings.exists(_.contains(all(1))))
  }
}
