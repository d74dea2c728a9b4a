// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source.runtime

/** Evidence that a task collects while reading. The task sends the report to the driver when the task succeeds. In
  * Spark's continuous mode, a task sends its backlog ([[splice.source.SplitReader.backlog]]) while the task runs.
  *
  * The driver may receive a report twice, for example if Spark repeats a stage or a query reads a DataFrame twice. The
  * driver may also receive no report. A task that fails, a driver that stops, and a query that does not read a range to
  * its end send no report.
  *
  * @param range
  *   name, within the source, of the range that was read, or of the enumerator that receives the report
  * @param content
  *   collected data. Java-serialised
  */
final case class Report(range: String, content: Serializable)
