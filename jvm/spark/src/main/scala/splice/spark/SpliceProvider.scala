// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark

import java.util.{Map => JMap}

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.connector.catalog.{Table, TableProvider}
import org.apache.spark.sql.connector.expressions.Transform
import org.apache.spark.sql.sources.DataSourceRegister
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.util.CaseInsensitiveStringMap

import splice.source.SourceSpec
import splice.spark.internal.table.{ClassPathVersions, SpliceTable, TableOptions}

/** `format("splice")`. The option `source` sets the kind of the source.
  *
  * Spark creates one instance per `load()`, and requests first the schema and then the table. The source is therefore
  * created once and cached.
  */
class SpliceProvider extends TableProvider with DataSourceRegister {

  private var table: Option[((Map[String, String], Map[String, String]), SpliceTable)] = None

  override def shortName(): String = SourceSpec.Format

  /** Options that the alias implies. */
  protected def implied: Map[String, String] = Map.empty

  override def inferSchema(options: CaseInsensitiveStringMap): StructType =
    tableOf(options.asCaseSensitiveMap.asScala.toMap).schema

  override def getTable(schema: StructType, partitioning: Array[Transform], properties: JMap[String, String]): Table =
    tableOf(properties.asScala.toMap)

  private def tableOf(written: Map[String, String]): SpliceTable = {
    val options = TableOptions(written, implied)
    val ignored = TableOptions.ignored(written, options)
    table.collect { case (`options` -> `ignored`, created) => created }.getOrElse {
      ClassPathVersions.check()
      val created = new SpliceTable(options, ignored)
      table = Some((options, ignored) -> created)
      created
    }
  }
}

/** `format("splice-files")`: `splice` with `source` = `files`. */
final class SpliceFilesProvider extends SpliceProvider {
  override def shortName(): String                    = "splice-files"
  override protected def implied: Map[String, String] = Map("source" -> "files")
}

/** `format("splice-kafka")`: `splice` with `source` = `kafka`. */
final class SpliceKafkaProvider extends SpliceProvider {
  override def shortName(): String                    = "splice-kafka"
  override protected def implied: Map[String, String] = Map("source" -> "kafka")
}

/** `format("splice-hybrid")`: `splice` with `source` = `hybrid`. */
final class SpliceHybridProvider extends SpliceProvider {
  override def shortName(): String                    = "splice-hybrid"
  override protected def implied: Map[String, String] = Map("source" -> "hybrid")
}

/** `format("splice-dynamic-kafka")`: `splice` with `source` = `dynamicKafka`. */
final class SpliceDynamicKafkaProvider extends SpliceProvider {
  override def shortName(): String                    = "splice-dynamic-kafka"
  override protected def implied: Map[String, String] = Map("source" -> "dynamicKafka")
}
