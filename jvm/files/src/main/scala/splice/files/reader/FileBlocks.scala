// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.reader

import org.apache.hadoop.fs.Path
import org.apache.spark.paths.SparkPath
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.execution.datasources.PartitionedFile

import splice.files.split.FileBlock

/** Blocks as Spark's readers take them. */
private[files] object FileBlocks {

  def path(block: FileBlock): Path = SparkPath.fromUrlString(block.path).toPath

  def partitioned(block: FileBlock, constants: InternalRow): PartitionedFile =
    PartitionedFile(
      constants,
      SparkPath.fromUrlString(block.path),
      block.start,
      block.length,
      modificationTime = block.modified,
      fileSize = block.size
    )
}
