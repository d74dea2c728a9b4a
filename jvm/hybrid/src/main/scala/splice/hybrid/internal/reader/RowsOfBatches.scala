// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.reader

import java.time.Duration
import java.util.Collections

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.vectorized.ColumnarBatch

import splice.source.internal.ForwardingReader
import splice.source.{Poll, SplitReader}

/** Reader of the rows of column batches. Counting by columns is faster than counting by rows. The returned row is
  * reused.
  */
final private[splice] class RowsOfBatches(inner: SplitReader[ColumnarBatch])
    extends ForwardingReader[ColumnarBatch, InternalRow](inner) {

  private var rows: java.util.Iterator[InternalRow] = Collections.emptyIterator()
  private var row: InternalRow                      = InternalRow.empty

  override def poll(patience: Duration): Poll = {
    var result: Poll = Poll.Found
    while ((result eq Poll.Found) && !rows.hasNext) {
      result = inner.poll(patience)
      if (result eq Poll.Found) rows = inner.get().rowIterator
    }
    if (result eq Poll.Found) row = rows.next()
    result
  }

  override def get(): InternalRow = row
}
