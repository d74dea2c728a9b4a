// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.reader

import scala.collection.concurrent.TrieMap

import splice.kafka.internal.metrics.ReadReports
import splice.source.runtime.Report

/** The figures of the tasks of one run, for each cluster. Used by any thread. */
final private[splice] class ClusterReads(run: String) {

  private val known = TrieMap.empty[String, ReadReports]

  /** The figures of a cluster, which outlive its enumerator. */
  def apply(cluster: String): ReadReports = {
    val key = ClusterReads.key(run, cluster)
    known.getOrElseUpdate(key, new ReadReports(key))
  }

  /** Keeps each report for its cluster. */
  def add(reports: Seq[Report]): Unit = reports.groupBy(_.range).foreach { case (key, own) =>
    known.get(key).foreach(_.add(own))
  }
}

private[splice] object ClusterReads {

  /** Names a cluster in the reports of a run. */
  def key(run: String, cluster: String): String = s"$run-$cluster"
}
