// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.reader

import scala.jdk.CollectionConverters._

import org.apache.spark.broadcast.Broadcast
import org.apache.spark.sql.catalyst.{InternalRow, ProjectingInternalRow}
import org.apache.spark.sql.execution.datasources.PartitionedFile
import org.apache.spark.sql.vectorized.ColumnarBatch
import org.apache.spark.util.SerializableConfiguration

import splice.files.internal.access.PathUsers
import splice.files.internal.split.{FileBlock, FileRange}
import splice.source.internal.PinnedReader
import splice.source.runtime.SessionSettings
import splice.source.{SplitReader, SplitReaderFactory, TaskRanges}

/** Reader factory for files. A Spark file format creates the read function on the driver.
  *
  * @param read
  *   returns rows, or column batches if `columnar`, in the order of the layout
  * @param session
  *   settings for reading; the settings of a task may differ, for example in a job outside of a query
  */
final private[files] class FileReaderFactory(
    layout: ReadLayout,
    read: PartitionedFile => Iterator[InternalRow],
    override val columnar: Boolean,
    configuration: Broadcast[SerializableConfiguration],
    policy: FilePolicy,
    users: PathUsers,
    session: SessionSettings
) extends SplitReaderFactory {

  override def batches(task: TaskRanges): SplitReader[ColumnarBatch] = {
    val arrange = new ColumnArranger(layout)
    reader(task, open => vectors(open).map(arrange(_)))
  }

  override def rows(task: TaskRanges): SplitReader[InternalRow] =
    if (columnar) {
      val arrange = new ColumnArranger(layout)
      reader(task, open => vectors(open).flatMap(batch => arrange(batch).rowIterator.asScala))
    } else if (layout.inOrder) reader(task, identity)
    else {
      val view = new ProjectingInternalRow(layout.wanted, layout.order)
      reader(
        task,
        _.map { row =>
          view.project(row)
          view
        }
      )
    }

  private def vectors(open: Iterator[InternalRow]): Iterator[ColumnarBatch] = open.asInstanceOf[Iterator[ColumnarBatch]]

  private def reader[T](task: TaskRanges, items: Iterator[InternalRow] => Iterator[T]): SplitReader[T] = {
    val files                  = new FileOpener(configuration.value.value, policy, users)
    def open(block: FileBlock) = read(block.partitioned(layout.values(block), users))
    val blocks = new BlockReader(FileReaderFactory.blocks(task), block => files.open(block, open), items, policy, users)
    PinnedReader(session)(blocks)
  }
}

private object FileReaderFactory {

  def blocks(task: TaskRanges): IndexedSeq[FileBlock] =
    task.ranges.flatMap {
      case range: FileRange => range.blocks
      case other            => throw new IllegalArgumentException(s"$other is not a range of files")
    }
}
