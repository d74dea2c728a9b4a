// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.streams.fake

import java.nio.file.{Files, Paths}
import java.util.{Map => JMap, Set => JSet}

import scala.jdk.CollectionConverters._

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.SQLContext
import org.apache.spark.sql.connector.catalog.{SupportsRead, Table, TableCapability, TableProvider}
import org.apache.spark.sql.connector.expressions.Transform
import org.apache.spark.sql.connector.metric.{CustomMetric, CustomSumMetric}
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream
import org.apache.spark.sql.connector.read.{Scan, ScanBuilder}
import org.apache.spark.sql.sources.StreamSourceProvider
import org.apache.spark.sql.types.{IntegerType, LongType, StringType, StructType}
import org.apache.spark.sql.util.CaseInsensitiveStringMap

/** Format of the streams of tests. The option `log` is the name of a [[FakeLog]], and `stream` is the class of its stream:
  * `plain`, `admitted` or `ending` (default).
  */
final class FakeProvider extends TableProvider {

  override def inferSchema(options: CaseInsensitiveStringMap): StructType = FakeProvider.Schema

  override def getTable(schema: StructType, partitions: Array[Transform], properties: JMap[String, String]): Table =
    FakeTable
}

object FakeProvider {

  val Schema: StructType = new StructType().add("id", LongType).add("text", StringType).add("partition", IntegerType)

  val Format: String = classOf[FakeProvider].getName
}

private object FakeTable extends Table with SupportsRead {

  override def name: String = "fake"

  override def schema: StructType = FakeProvider.Schema

  override def capabilities: JSet[TableCapability] = Set(TableCapability.MICRO_BATCH_READ).asJava

  override def newScanBuilder(options: CaseInsensitiveStringMap): ScanBuilder = () =>
    new Scan {
      override def readSchema: StructType = FakeProvider.Schema

      override def supportedCustomMetrics: Array[CustomMetric] = Array(new FakeRows)

      override def toMicroBatchStream(folder: String): MicroBatchStream = {
        val log = FakeLog(options.get("log"))
        log.call(s"create $folder")
        val own = Files.createDirectories(Paths.get(new Path(folder).toUri.getPath))
        if (Files.exists(own.resolve("0"))) log.resumed()
        Files.writeString(own.resolve("0"), "a file of the stream")
        options.getOrDefault("stream", "ending") match {
          case "plain"    => new FakeStream(log, options)
          case "admitted" => new AdmittedStream(log, options)
          case "ending"   => new EndingStream(log, options)
        }
      }
    }
}

/** Metric of the rows that tasks have read. */
final class FakeRows extends CustomSumMetric {
  override def name: String        = FakeRows.Name
  override def description: String = "rows of a stream of a test"
}

object FakeRows {
  val Name = "fakeRows"
}

/** Format with Spark's first streaming interface only. */
final class FirstVersionProvider extends StreamSourceProvider {

  override def sourceSchema(
      sqlContext: SQLContext,
      schema: Option[StructType],
      providerName: String,
      parameters: Map[String, String]
  ): (String, StructType) = throw new IllegalStateException("a request to a server")

  override def createSource(
      sqlContext: SQLContext,
      metadataPath: String,
      schema: Option[StructType],
      providerName: String,
      parameters: Map[String, String]
  ): org.apache.spark.sql.execution.streaming.Source = throw new IllegalStateException("a request to a server")
}
