// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark

import org.apache.spark.sql.connector.read.{Scan, ScanBuilder, SupportsPushDownRequiredColumns}
import org.apache.spark.sql.types.StructType

import splice.source.{Source, SourceOptions}

/** Learns which columns the query needs. A stream before Spark 4.2 is never told, and gets them all, metadata last. */
final private[spark] class SpliceScanBuilder(source: Source, options: SourceOptions)
    extends ScanBuilder
    with SupportsPushDownRequiredColumns {

  private var columns = StructType(source.schema.fields ++ source.metadataColumns.fields)

  override def pruneColumns(required: StructType): Unit = columns = required

  override def build(): Scan = new SpliceScan(source, options, columns)
}
