// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source

/** Names of a source's figures in the query progress; one list for Scala, Python and the docs. */
object ProgressMetric {

  /** The leg being read (hybrid only). */
  val Leg = "leg"

  /** The position, in words short enough for a table. */
  val Position = "position"

  /** Splits that are being read. */
  val Splits = "splits"

  /** Rows known to exist and not read yet. */
  val RowsBehind = "rowsBehind"

  /** Bytes known to exist and not read yet. */
  val BytesBehind = "bytesBehind"

  /** How many switches from one leg to the next this checkpoint has seen (hybrid only). */
  val Switches = "switches"
}
