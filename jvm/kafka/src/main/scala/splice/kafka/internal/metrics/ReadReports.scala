// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.metrics

import splice.kafka.internal.split.KafkaSplitRange
import splice.source.runtime.Report

/** The reports of tasks since the last call of [[take]]. Thread-safe.
  *
  * @param key
  *   identifies the enumerator of one run of one query; readers add the key to their reports
  */
final private[splice] class ReadReports(val key: String) {

  /** The delay of a watermark that the records of this run need. */
  val delay = new DelayNeeded

  private var reads  = TaskReads()
  private var unread = Vector.empty[KafkaSplitRange]

  /** Adds the reports with the key of this enumerator. */
  def add(reports: Seq[Report]): Unit = reports.foreach {
    case Report(`key`, added: TaskReads) => synchronized {
        delay.add(added)
        reads = reads ++ added.copy(unread = Vector.empty)
        // A range without an end is of a batch without an end, which no bounded source has.
        unread = (unread ++ added.unread.filterNot(_.isOpen)).distinct
      }
    case _ => ()
  }

  /** Passes the unread ranges that are due to `store`, and removes these ranges afterwards. */
  def storeUnread(isDue: KafkaSplitRange => Boolean)(store: Seq[KafkaSplitRange] => Unit): Unit = synchronized {
    val (due, rest) = unread.partition(isDue)
    if (due.nonEmpty) store(due)
    unread = rest
  }

  /** Returns the reports since the last call, and removes these reports. */
  def take(): TaskReads = synchronized {
    val taken = reads
    reads = TaskReads()
    taken
  }
}
