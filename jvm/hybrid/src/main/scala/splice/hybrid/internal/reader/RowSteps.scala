// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.reader

import org.apache.spark.TaskContext
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Expression, MutableProjection, SpecificInternalRow}

/** A compiled `select` at work in one task. Used by one thread; its row is reused.
  *
  * Spark copies every row of a source into one of its unsafe rows, so values are kept as they come here and copied once, there.
  */
final private[splice] class RowSteps(steps: IndexedSeq[Seq[Expression]]) {

  private val projections: Array[MutableProjection] = steps.map { list =>
    val projection = MutableProjection.create(list).target(new SpecificInternalRow(list.map(_.dataType)))
    projection.initialize(TaskContext.getPartitionId())
    projection
  }.toArray

  def apply(row: InternalRow): InternalRow = {
    var result = row
    var i      = 0
    while (i < projections.length) {
      result = projections(i)(result)
      i += 1
    }
    result
  }
}
