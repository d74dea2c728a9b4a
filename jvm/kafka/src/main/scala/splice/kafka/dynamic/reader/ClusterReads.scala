// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.reader

import scala.collection.concurrent.TrieMap

import splice.kafka.lag.ReadReports

/** The figures of the tasks of one run, for each cluster. Used by any thread. */
final private[splice] class ClusterReads {

  private val reports = TrieMap.empty[String, Option[ReadReports]]

  /** None where no session runs tasks. */
  def apply(cluster: String): Option[ReadReports] = reports.getOrElseUpdate(cluster, ReadReports.ofSession())
}
