// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark.internal.table

import org.apache.spark.sql.types.{LongType, StringType, StructType}
import org.scalatest.funsuite.AnyFunSuite

import splice.source.options.SourceOptions
import splice.source.{EnumeratorContext, NumberPosition, Source, SplitEnumerator}
import splice.testkit.LoggedMessages

/** The columns of a scan that Spark does not prune, and the warning about its options. */
final class ScanSuite extends AnyFunSuite {

  private object Archive extends Source[NumberPosition] {
    override def kind: String                = "archive"
    override def schema: StructType          = new StructType().add("id", LongType).add("_File", StringType)
    override def metadataColumns: StructType = new StructType().add("_file", StringType).add("_size", LongType)
    override def position(json: String): NumberPosition = throw new UnsupportedOperationException
    override def enumerator(context: EnumeratorContext): SplitEnumerator[NumberPosition] =
      throw new UnsupportedOperationException
  }

  test("a metadata column with the name of a data column is dropped, as Spark drops it") {
    val scan = new SpliceScanBuilder(Archive, SourceOptions(Map.empty)).build()
    assert(scan.readSchema.fieldNames.toSeq == Seq("id", "_File", "_size"))
  }

  test("a batch warns once of options whose secrets Spark shows") {
    val secret     = "Basic dXNlcjpwYXNz"
    val options    = SourceOptions(Map("metadata.header.Authorization" -> secret, "kafka.ssl.key.password" -> "x1y2"))
    val scan       = new SpliceScanBuilder(Archive, options).build()
    val (_, lines) = LoggedMessages.during("splice.spark.internal.table") {
      val _ = (scan.toBatch, scan.toBatch)
    }
    assert(
      lines.count(_.contains("options in plans, in the UI and in the event log: metadata.header.Authorization.")) == 1
    )
    assert(!lines.exists(_.contains(secret)))
  }
}
