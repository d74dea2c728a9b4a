// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark.internal.stream

import org.apache.spark.sql.connector.read.streaming.Offset

import splice.source.Position

/** A position in the form that Spark's offset log stores.
  *
  * Spark starts a batch if the text of an offset changes. Another source of the checkpoint may write the same position
  * as a different text. Therefore an offset keeps the text that it was read from.
  */
final private[spark] class SpliceOffset(val position: Position, override val json: String) extends Offset

private[spark] object SpliceOffset {
  def apply(position: Position): SpliceOffset = new SpliceOffset(position, position.json)
}
