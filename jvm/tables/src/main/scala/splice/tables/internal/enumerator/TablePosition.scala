// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.tables.internal.enumerator

import splice.source.NumberPosition

/** Number of slices that were read: `{"n":3,"v":1}`. */
final private[splice] case class TablePosition(override val n: Long) extends NumberPosition {

  def slices: Int = n.toInt
}

private[splice] object TablePosition {

  val Start: TablePosition = TablePosition(0)

  /** @throws splice.source.errors.SpliceException if the text is not a position of a table */
  def read(json: String): TablePosition = TablePosition(NumberPosition.read(json))
}
