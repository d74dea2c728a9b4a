// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.reader

import org.apache.spark.sql.catalyst.InternalRow

import splice.source.{SplitReader, SplitReaderFactory, TaskRanges}

/** Reader factory without column batches, for batches that count rows. */
final private[files] class RowsOnly(inner: SplitReaderFactory) extends SplitReaderFactory {
  override def rows(task: TaskRanges): SplitReader[InternalRow] = inner.rows(task)
}
