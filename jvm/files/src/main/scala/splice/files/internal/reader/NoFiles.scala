// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.reader

import org.apache.spark.sql.catalyst.InternalRow

import splice.source.{SplitReader, SplitReaderFactory, TaskRanges}

/** The readers of a batch that has no files. */
private[files] case object NoFiles extends SplitReaderFactory {
  override def rows(task: TaskRanges): SplitReader[InternalRow] =
    throw new IllegalStateException(s"$task is no task of a batch without files")
}
