// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.reader

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

import splice.files.internal.access.PathUsers
import splice.files.internal.session.ColumnNames
import splice.files.internal.split.FileBlock

/** Metadata column with the origin of a row. Hidden unless a query names it. */
sealed abstract private[files] class FileMetadata(name: String, kind: DataType, doc: String) extends Product
    with Serializable {

  val field: StructField = StructField(name, kind, nullable = false).withComment(doc)

  /** Value of all rows of a block, in Spark's internal format. */
  def of(block: FileBlock): Any
}

private[files] object FileMetadata {

  case object FilePath extends FileMetadata("_file_path", StringType, "file from which the row was read") {
    // Same encoding as Spark's _metadata.file_path.
    override def of(block: FileBlock): Any =
      UTF8String.fromString(new Path(block.hadoopPath(PathUsers.Nobody).toString).toUri.toString)
  }

  case object FileSize extends FileMetadata("_file_size", LongType, "size of the file in bytes") {
    override def of(block: FileBlock): Any = block.size
  }

  case object FileModificationTime
      extends FileMetadata("_file_modification_time", TimestampType, "time of the last modification of the file") {
    override def of(block: FileBlock): Any = block.modified * 1000L
  }

  case object FileBlockStart
      extends FileMetadata(
        "_file_block_start",
        LongType,
        "position of the first byte of the part of the file from which the row was read"
      ) {
    override def of(block: FileBlock): Any = block.start
  }

  val all: Seq[FileMetadata] = Seq(FilePath, FileSize, FileModificationTime, FileBlockStart)

  val schema: StructType = StructType(all.map(_.field))

  def named(name: String): Option[FileMetadata] =
    all.find(column => ColumnNames.key(column.field.name) == ColumnNames.key(name))
}
