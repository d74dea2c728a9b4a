// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark.internal.table

import org.apache.spark.sql.connector.read.{Scan, ScanBuilder, SupportsPushDownRequiredColumns}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.StructType

import splice.source.options.SourceOptions
import splice.source.{Position, Source}

/** Learns which columns the query needs. A stream before Spark 4.2 is never told, and gets them all, metadata last. */
final private[spark] class SpliceScanBuilder(source: Source[_ <: Position], options: SourceOptions)
    extends ScanBuilder
    with SupportsPushDownRequiredColumns {

  // Spark drops a metadata column whose name is that of a column.
  private val all = {
    val isSame   = SQLConf.get.resolver
    val metadata =
      source.metadataColumns.fields.filterNot(m => source.schema.fields.exists(c => isSame(c.name, m.name)))
    StructType(source.schema.fields ++ metadata)
  }

  private var columns = all

  // Spark may ask for some fields of a struct only; a source gives a column whole, and Spark takes of it what it needs.
  override def pruneColumns(required: StructType): Unit =
    columns = StructType(required.fields.map(requested => all.fields.find(_.name == requested.name).getOrElse(requested)))

  override def build(): Scan = new SpliceScan(source, options, columns)
}
