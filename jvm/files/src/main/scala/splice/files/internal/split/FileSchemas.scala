// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.split

import org.apache.spark.sql.types.{StructField, StructType}

import splice.files.internal.session.ColumnNames

/** Columns of the files at the listing.
  *
  * @param data
  *   columns in the files; the order is relevant for CSV
  * @param partition
  *   partition columns from folder names
  */
final private[splice] case class FileSchemas(data: StructType, partition: StructType) {

  /** Columns of a row. A partition column replaces a file column of the same name. */
  def rows: StructType = {
    def same(a: StructField, b: StructField) = ColumnNames.key(a.name) == ColumnNames.key(b.name)
    val merged                               = data.map(d => partition.find(same(_, d)).getOrElse(d))
    StructType(merged ++ partition.filterNot(p => data.exists(same(_, p))))
  }
}

private[splice] object FileSchemas {

  val empty: FileSchemas = FileSchemas(new StructType(), new StructType())
}
