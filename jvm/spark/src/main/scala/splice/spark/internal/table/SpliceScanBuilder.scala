// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark.internal.table

import org.apache.spark.sql.connector.read.{Scan, ScanBuilder, SupportsPushDownRequiredColumns}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.StructType

import splice.source.options.SourceOptions
import splice.source.{Position, Source}

/** Receives the columns that the query needs. Before Spark 4.2, a stream receives no selection and returns all columns,
  * with the metadata columns last.
  */
final private[spark] class SpliceScanBuilder(source: Source[_ <: Position], options: SourceOptions)
    extends ScanBuilder
    with SupportsPushDownRequiredColumns {

  // Spark drops a metadata column that has the same name as a data column.
  private val all = {
    val isSame   = SQLConf.get.resolver
    val metadata =
      source.metadataColumns.fields.filterNot(m => source.schema.fields.exists(c => isSame(c.name, m.name)))
    StructType(source.schema.fields ++ metadata)
  }

  private var columns = all

  // Spark may request only some fields of a struct. A source returns whole columns, and Spark selects the fields.
  override def pruneColumns(required: StructType): Unit =
    columns =
      StructType(required.fields.map(requested => all.fields.find(_.name == requested.name).getOrElse(requested)))

  override def build(): Scan = new SpliceScan(source, options, columns)
}
