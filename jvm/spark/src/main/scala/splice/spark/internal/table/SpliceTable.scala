// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark.internal.table

import java.util.{Map => JMap, Set => JSet}

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.connector.catalog._
import org.apache.spark.sql.connector.read.ScanBuilder
import org.apache.spark.sql.connector.write.{LogicalWriteInfo, WriteBuilder}
import org.apache.spark.sql.types.{DataType, StructField, StructType}
import org.apache.spark.sql.util.CaseInsensitiveStringMap
import org.slf4j.LoggerFactory

import splice.source.internal.Secrets
import splice.source.options.SourceOptions
import splice.source.options.SourceOptions.fold
import splice.source.{Position, Source, SourceProvider}
import splice.spark.internal.errors.FrontErrors

/** The table that represents a source in Spark's analyzer.
  *
  * @param ignored
  *   properties of a SQL table that have the name of an option, and no effect
  */
final private[spark] class SpliceTable(options: Map[String, String], ignored: Map[String, String] = Map.empty)
    extends Table
    with SupportsRead
    with SupportsWrite
    with SupportsMetadataColumns {

  private val source: Source[_ <: Position] = SourceProvider.create(SourceOptions(options))

  override lazy val schema: StructType = source.schema

  override def name: String = s"splice ${source.kind}"

  override def properties: JMap[String, String] =
    (options.map { case (k, v) => s"option.$k" -> Secrets.redact(k, v) } + ("provider" -> "splice")).asJava

  override def capabilities: JSet[TableCapability] = Set(
    TableCapability.BATCH_READ,
    TableCapability.MICRO_BATCH_READ,
    // Always declared. If the source does not support continuous mode, its stream fails with an error that names the
    // source.
    TableCapability.CONTINUOUS_READ,
    TableCapability.BATCH_WRITE,
    TableCapability.STREAMING_WRITE,
    TableCapability.TRUNCATE,
    TableCapability.ACCEPT_ANY_SCHEMA
  ).asJava

  override def metadataColumns: Array[MetadataColumn] = source.metadataColumns.fields.map(new SpliceMetadataColumn(_))

  override def newScanBuilder(query: CaseInsensitiveStringMap): ScanBuilder = {
    val written = query.asCaseSensitiveMap.asScala.toMap
    val folded  = options.map { case (k, v) => fold(k) -> v }
    val more    = written.filterNot { case (k, v) => folded.get(fold(k)).contains(v) }
    // A statement that reads no row, such as DESCRIBE, needs no warning.
    if (ignored.nonEmpty) SpliceTable.logger.warn(warning)
    val scanned = if (more.isEmpty) source else new SpliceTable(merged(more)).source
    new SpliceScanBuilder(scanned, SourceOptions(merged(more)))
  }

  private def warning: String = {
    val named = ignored.toSeq.sorted.map { case (k, v) => s"'$k' = '${Secrets.redact(k, v)}'" }.mkString(", ")
    s"Properties of the SQL table have no effect: $named. Splice reads the options of OPTIONS, and these options have " +
      "other values or are not set. To change an option, create the table again with the option in OPTIONS (...)."
  }

  /** Rejects each write, because sources are read-only. The table declares write capabilities so that the user gets
    * this error.
    */
  override def newWriteBuilder(info: LogicalWriteInfo): WriteBuilder = throw FrontErrors.writing(source.kind)

  private def merged(more: Map[String, String]): Map[String, String] = {
    val replaced = more.keySet.map(fold)
    options.filterNot { case (k, _) => replaced(fold(k)) } ++ more
  }
}

private object SpliceTable {
  private val logger = LoggerFactory.getLogger(classOf[SpliceTable])
}

final private[spark] class SpliceMetadataColumn(field: StructField) extends MetadataColumn {
  override def name: String        = field.name
  override def dataType: DataType  = field.dataType
  override def isNullable: Boolean = field.nullable
  override def comment: String     = field.getComment().getOrElse("")
}
