// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source.runtime

import scala.collection.concurrent.TrieMap

/** Passes the report of a task to an enumerator when the task succeeds, before Spark commits the batch. The enumerator
  * receives each report again in [[splice.source.SplitEnumerator.reported]], which may be after the commit. A kill
  * between the commit and that call would lose a report that the next run needs.
  *
  * Spark's scheduler calls a listener and waits for it. A listener therefore acts only on rare reports, and uses only
  * objects that any thread may use. Spark logs an error of a listener and continues. Any thread may call the methods.
  */
final class ReportListeners {

  private val listeners = TrieMap.empty[String, Serializable => Unit]

  /** Sets the listener for the content of the reports of an enumerator or a range ([[Report.range]]). Replaces an
    * earlier listener.
    */
  def listen(range: String)(listener: Serializable => Unit): Unit = listeners(range) = listener

  /** Passes a report to its listener, if any. */
  def receive(report: Report): Unit = listeners.get(report.range).foreach(_(report.content))
}
