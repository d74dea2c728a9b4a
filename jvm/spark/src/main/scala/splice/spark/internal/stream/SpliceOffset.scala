// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark.internal.stream

import org.apache.spark.sql.connector.read.streaming.Offset

import splice.source.Position

/** A position as Spark's offset log holds it.
  *
  * Spark starts a batch if the text of an offset changes. Another source of the checkpoint may write the same position as another text, so an
  * offset keeps the text that it was read from.
  */
final private[spark] class SpliceOffset(val position: Position, override val json: String) extends Offset

private[spark] object SpliceOffset {
  def apply(position: Position): SpliceOffset = new SpliceOffset(position, position.json)
}
