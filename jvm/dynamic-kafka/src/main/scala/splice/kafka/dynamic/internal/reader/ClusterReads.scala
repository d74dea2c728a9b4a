// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.reader

import scala.collection.concurrent.TrieMap

import splice.kafka.internal.metrics.{DelayNeeded, ReadReports, TaskReads}
import splice.source.runtime.Report

/** Figures of the tasks of one run, for each cluster. Any thread may use this object. */
final private[splice] class ClusterReads(run: String) {

  private val known = TrieMap.empty[String, ReadReports]

  /** Returns the figures of a cluster. The figures remain when the enumerator of the cluster is replaced. */
  def apply(cluster: String): ReadReports = {
    val key = ClusterReads.key(run, cluster)
    known.getOrElseUpdate(key, new ReadReports(key))
  }

  /** The delay of a watermark that the records of all clusters need. */
  val delay = new DelayNeeded

  /** Adds each report to the figures of its cluster. */
  def add(reports: Seq[Report]): Unit = reports.groupBy(_.range).foreach { case (key, group) =>
    known.get(key).foreach { own =>
      own.add(group)
      group.foreach {
        case Report(_, reads: TaskReads) => delay.add(reads)
        case _                           => ()
      }
    }
  }
}

private[splice] object ClusterReads {

  /** Returns the key of a cluster in the reports of a run. */
  def key(run: String, scope: String): String = s"$run-$scope"
}
