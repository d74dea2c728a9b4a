// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.reference

import org.apache.spark.sql.types.StructType

import splice.source.options.SourceOptions
import splice.source.{Position, Source, SourceProvider}

/** Page of columns and task metrics. The sources have dummy locations, because the creation of a source accesses no
  * storage.
  */
object ColumnsPage {

  private val intro =
    """`SELECT *` omits columns whose names begin with `_`. To read such a column, name the column: `df.select("*", "_leg")`. The
      |`select` of a leg can also name the hidden columns of the leg's source. The SQL page of Spark's UI shows the task metrics,
      |added up over all tasks.""".stripMargin

  private val files = source("source" -> "files", "format" -> "parquet", "path" -> "/lake")

  private val broker = Seq(
    "source"                  -> "kafka",
    "kafka.bootstrap.servers" -> "broker:9092",
    "subscribe"               -> "orders",
    "includeHeaders"          -> "true"
  )

  private val kafka = source(broker: _*)

  private val dynamic =
    source("source" -> "dynamicKafka", "metadata.file" -> "/streams.yaml", "streams" -> "orders")

  private val parsed = source(
    broker ++ Seq("valueFormat" -> "json", "valueSchema" -> "id BIGINT", "onParseError" -> "corrupt"): _*
  )

  private val ofValues =
    "The option `includeHeaders` adds `headers`. With `valueFormat`, `value` is a string or a struct. `onParseError` = `corrupt` " +
      "adds `_corrupt`. The metric `kafkaParseErrors` exists if `valueFormat` parses values."

  private val ofClusters = "The other columns and the task metrics are the same as in the Kafka source."

  private val hybrid = source(
    "source"         -> "hybrid",
    "legs"           -> "history",
    "history.source" -> "files",
    "history.format" -> "parquet",
    "history.path"   -> "/lake"
  )

  def text: String = Markdown.page(
    "Columns and task metrics",
    Seq(intro) ++
      Seq("## Hybrid source: hidden columns", columns(hybrid.metadataColumns)) ++
      Seq("## Files: hidden columns", columns(files.metadataColumns)) ++
      Seq("## Kafka: columns", ofValues, columns(StructType(kafka.schema.fields :+ parsed.schema("_corrupt")))) ++
      Seq("## Kafka: task metrics", taskMetrics(parsed)) ++
      Seq("## Many Kafka clusters: hidden columns", ofClusters, columns(dynamic.metadataColumns))
  )

  private def source(options: (String, String)*): Source[_ <: Position] =
    SourceProvider.create(SourceOptions(options.toMap))

  private def columns(of: StructType): String = {
    val comments = of.fields.exists(_.getComment().isDefined)
    val rows     = of.fields.toSeq.map { field =>
      Seq(Markdown.code(field.name), Markdown.code(field.dataType.sql)) ++
        Option.when(comments)(Markdown.text(field.getComment().getOrElse("")))
    }
    Markdown.table(Seq("Name", "Type") ++ Option.when(comments)("Meaning"), rows)
  }

  private def taskMetrics(of: Source[_ <: Position]): String =
    Markdown.table(
      Seq("Name", "Meaning"),
      of.taskMetrics.map(m => Seq(Markdown.code(m.name), Markdown.text(m.description)))
    )
}
