// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.reader

import org.apache.spark.sql.vectorized.ColumnarBatch

/** Puts the columns of batches into the wanted order without touching a value. Used by one thread. */
final private[files] class ColumnArranger(layout: ReadLayout) {

  // Spark's readers fill the same batch again and again, so one arranged view of it is enough.
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
