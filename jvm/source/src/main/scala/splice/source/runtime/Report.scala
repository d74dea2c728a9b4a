// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source.runtime

/** Evidence that a task collected while it read, and sends to the driver when it succeeds.
  *
  * A report may arrive twice, for example when a stage runs again or a query reads a DataFrame twice. It may also never arrive: a
  * task that fails, a driver that stops, and a query that does not read a range to its end send none.
  *
  * @param range
  *   names the range that was read, within the source, or the enumerator that the report is for
  * @param content
  *   Java-serialised
  */
final case class Report(range: String, content: Serializable)
