// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.reader

import org.apache.spark.sql.catalyst.InternalRow

import splice.source.{SplitReader, SplitReaderFactory, TaskRanges}

/** The readers of a batch that counts rows, which column batches do not allow. */
final private[files] class RowsOnly(inner: SplitReaderFactory) extends SplitReaderFactory {
  override def rows(task: TaskRanges): SplitReader[InternalRow] = inner.rows(task)
}
