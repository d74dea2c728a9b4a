// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source.internal.rows

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical.{LeafNode, Statistics}

/** Leaf of a logical plan that represents the rows of a reader for Spark's analyzer. The plan never runs. Spark's
  * optimiser would remove a leaf such as an empty relation.
  */
final private[splice] case class RawRows(output: Seq[Attribute]) extends LeafNode {
  override def computeStats(): Statistics = Statistics(sizeInBytes = BigInt(Long.MaxValue))
}
