// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source.internal.rows

import org.apache.spark.sql.catalyst.expressions.{Attribute, BaseGenericInternalRow}
import org.apache.spark.sql.catalyst.plans.logical.{LeafNode, Statistics}

/** Read-only row that shows data of another object. A reader reuses one view for all its rows.
  *
  * A view overrides the getters of its frequent types. Spark's base class supplies the other getters, including
  * getters that a later Spark version adds.
  *
  * This class has no getters that forward to another row, because a view may show another view. The JVM could not
  * compile the call of a shared getter into a direct call.
  *
  * A `copy` of a view remains valid when the view moves to another row.
  */
abstract private[splice] class RowView(final override val numFields: Int) extends BaseGenericInternalRow {

  final override def setNullAt(ordinal: Int): Unit = throw readOnly

  final override def update(ordinal: Int, value: Any): Unit = throw readOnly

  private def readOnly = new UnsupportedOperationException("a view of a row is read-only")
}

/** Leaf of a logical plan that represents the rows of a reader for Spark's analyzer. The plan never runs. Spark's
  * optimiser would remove a leaf such as an empty relation.
  */
final private[splice] case class RawRows(output: Seq[Attribute]) extends LeafNode {
  override def computeStats(): Statistics = Statistics(sizeInBytes = BigInt(Long.MaxValue))
}
