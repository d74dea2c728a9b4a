// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.reader

import org.apache.spark.sql.catalyst.InternalRow

import splice.source.{SplitReader, SplitReaderFactory, TaskRanges}

/** Reader factory of a batch without files. */
private[files] case object NoFiles extends SplitReaderFactory {
  override def rows(task: TaskRanges): SplitReader[InternalRow] =
    throw new IllegalStateException(s"$task is a task, but the batch has no files")
}
