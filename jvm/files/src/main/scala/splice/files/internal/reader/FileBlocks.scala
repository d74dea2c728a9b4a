// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.reader

import org.apache.hadoop.fs.Path
import org.apache.spark.paths.SparkPath
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.execution.datasources.PartitionedFile

import splice.files.internal.access.PathUsers
import splice.files.internal.split.FileBlock

/** Conversion of blocks to the types of Spark's readers. */
private[files] object FileBlocks {

  def path(block: FileBlock, users: PathUsers = PathUsers.Nobody): Path =
    SparkPath.fromUrlString(users.restore(block.path)).toPath

  def partitioned(block: FileBlock, constants: InternalRow, users: PathUsers): PartitionedFile =
    PartitionedFile(
      constants,
      SparkPath.fromUrlString(users.restore(block.path)),
      block.start,
      block.length,
      modificationTime = block.modified,
      fileSize = block.size
    )
}
