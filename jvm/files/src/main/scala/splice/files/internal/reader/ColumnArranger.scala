// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.reader

import org.apache.spark.sql.vectorized.ColumnarBatch

/** Reorders the columns of batches without copying values. Not thread-safe. */
final private[files] class ColumnArranger(layout: ReadLayout) {

  // Spark's readers reuse one batch object, so one reordered view suffices.
  private var last: Option[(ColumnarBatch, ColumnarBatch)] = None

  def apply(batch: ColumnarBatch): ColumnarBatch =
    if (layout.inOrder) batch
    else {
      val view = last.collect { case (`batch`, arranged) => arranged }.getOrElse {
        val arranged = new ColumnarBatch(layout.order.map(batch.column).toArray)
        last = Some(batch -> arranged)
        arranged
      }
      view.setNumRows(batch.numRows)
      view
    }
}
