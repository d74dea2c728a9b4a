// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.split

import org.apache.spark.sql.types.{StructField, StructType}

import splice.files.internal.session.ColumnNames

/** What the files' columns were when the files were listed.
  *
  * @param data
  *   the columns inside the files; for CSV their order counts
  * @param partition
  *   the columns that folder names give
  */
final private[splice] case class FileSchemas(data: StructType, partition: StructType) {

  /** The columns of a row: a folder's value stands in for a file's column of the same name. */
  def rows: StructType = {
    def same(a: StructField, b: StructField) = ColumnNames.key(a.name) == ColumnNames.key(b.name)
    val merged                               = data.map(d => partition.find(same(_, d)).getOrElse(d))
    StructType(merged ++ partition.filterNot(p => data.exists(same(_, p))))
  }
}

private[splice] object FileSchemas {

  val empty: FileSchemas = FileSchemas(new StructType(), new StructType())
}
