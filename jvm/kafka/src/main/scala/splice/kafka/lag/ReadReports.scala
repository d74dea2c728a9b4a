// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.lag

import splice.source.Report

/** The figures that tasks have reported and that were not taken yet. Used by any thread.
  *
  * @param key
  *   names the enumerator in one run of one query; readers put it into their reports
  */
final private[splice] class ReadReports(val key: String) {

  private var reads = TaskReads()

  /** Keeps those reports that are for this enumerator. */
  def add(reports: Seq[Report]): Unit = reports.foreach {
    case Report(`key`, own: TaskReads) => synchronized { reads = reads ++ own }
    case _                             => ()
  }

  /** What came since this was last called. */
  def take(): TaskReads = synchronized {
    val taken = reads
    reads = TaskReads()
    taken
  }
}
