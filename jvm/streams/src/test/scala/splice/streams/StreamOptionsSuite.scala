// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.streams

import org.scalatest.funsuite.AnyFunSuite

import splice.source.errors.SpliceError
import splice.source.options.SourceOptions
import splice.source.runtime.Boundedness
import splice.source.{Position, Source, SourceProvider}
import splice.streams.fake.{FakeProvider, FirstVersionProvider}

final class StreamOptionsSuite extends AnyFunSuite with LocalSpark {

  private def source(options: (String, String)*): Source[_ <: Position] =
    SourceProvider.create(SourceOptions((options :+ ("source" -> "stream")).toMap))

  private def rejected(condition: String, options: (String, String)*)(texts: String*): Unit = {
    val error = intercept[Exception](source(options: _*).schema) match {
      case known: SpliceError => known
      case other              => fail(other)
    }
    assert(error.getCondition == condition, error.getMessage)
    texts.foreach(text => assert(error.getMessage.contains(text)))
  }

  test("the options set the origin and the end, and all other options belong to the stream") {
    assert(source("format" -> FakeProvider.Format, "log" -> "x").schema == FakeProvider.Schema)
    assert(source("format" -> "rate").boundedness == Boundedness.ContinuousUnbounded)
    assert(source("format" -> "rate", "bounded" -> "true").boundedness == Boundedness.Bounded)
    assert(source("format" -> "rate", "PATH" -> "/a").identity == Map("format" -> "rate", "path" -> "/a"))
    assert(source("table" -> "lake.orders").toString == "stream [table=lake.orders]")
    assert(StreamSource.builder("rate").option("rowsPerSecond", "5").bounded().build().options ==
      Map("source" -> "stream", "format" -> "rate", "rowsPerSecond" -> "5", "bounded" -> "true"))
    assert(StreamSource.table("lake.orders").build().options == Map("source" -> "stream", "table" -> "lake.orders"))
  }

  test("a missing, doubled or mistyped option is an error with its name") {
    rejected("SPLICE_OPTION.MISSING")("'format'")
    rejected("SPLICE_OPTION.CONFLICT", "format" -> "rate", "table" -> "t")("format, table")
    rejected("SPLICE_OPTION.UNKNOWN", "format" -> "rate", "tabel" -> "t", "boundd" -> "true")("boundd")
    rejected("SPLICE_OPTION.INVALID_VALUE", "format" -> "rate", "bounded" -> "yes")("'bounded'")
  }

  test("a format without a Data Source V2 stream is rejected with the alternative") {
    val condition = "SPLICE_STREAM_OPTION.FORMAT_NOT_SUPPORTED"
    rejected(condition, "format" -> classOf[FirstVersionProvider].getName)("'source' = 'table'", "StreamSourceProvider")
    rejected(condition, "format" -> "parquet", "path" -> "/a")("'source' = 'files'")
    rejected(condition, "format" -> "text", "path" -> "/a")("'source' = 'files'")
  }

  test("a missing format and a missing table are errors with the reason") {
    rejected("SPLICE_STREAM_OPTION.FORMAT_NOT_FOUND", "format" -> "aws-kinesis")("'aws-kinesis'", "jar")
    rejected("SPLICE_STREAM.NOT_READABLE", "table" -> "no_such_table")("TABLE_OR_VIEW_NOT_FOUND")
    rejected("SPLICE_STREAM.NOT_READABLE", "format" -> "rate", "rowsPerSecond" -> "-1")("rowsPerSecond")
  }

  test("a view that changes the rows of a stream is rejected") {
    spark.readStream.format("rate").load().createOrReplaceTempView("plain_rate")
    spark.readStream.format("rate").load().where("value > 5").createOrReplaceTempView("some_rate")
    rejected("SPLICE_STREAM_OPTION.FORMAT_NOT_SUPPORTED", "table" -> "some_rate")("not a view")
  }
}
