// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark

import org.apache.spark.sql.connector.read.streaming.Offset

import splice.source.Position

/** A position as Spark's offset log holds it. */
final private[spark] case class SpliceOffset(position: Position) extends Offset {
  override def json: String = position.json
}
