// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.reader

import org.apache.spark.TaskContext
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Expression, MutableProjection, SpecificInternalRow}

/** Evaluation of a compiled `select` in one task. Not thread-safe. The returned row is reused.
  *
  * Spark copies each row of a source into an unsafe row, so this class does not copy values.
  */
final private[splice] class Projections(steps: IndexedSeq[Seq[Expression]]) {

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
