// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source.internal

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical.{LeafNode, Statistics}

/** A reader's rows, as the analyser sees them. It never runs; a leaf of Spark's own, such as an empty relation, would be folded away. */
final private[splice] case class RawRows(output: Seq[Attribute]) extends LeafNode {
  override def computeStats(): Statistics = Statistics(sizeInBytes = BigInt(Long.MaxValue))
}
