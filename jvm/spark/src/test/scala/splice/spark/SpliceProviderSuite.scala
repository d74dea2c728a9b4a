// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark

import org.scalatest.funsuite.AnyFunSuite

import splice.source.{SpliceOptionException, SpliceUnsupportedException}

final class SpliceProviderSuite extends AnyFunSuite with WithSpark {

  test("the option 'source' is needed") {
    val error = intercept[SpliceOptionException](spark.read.format("splice").load())
    assert(error.getMessage.contains("The option 'source' is missing"))
  }

  test("a source that is not there is refused, with those that are") {
    val error = intercept[SpliceOptionException](spark.read.format("splice").option("source", "kafak").load())
    assert(error.getMessage.contains("'source' is 'kafak'. Allowed: dynamic-kafka, files, hybrid, kafka"))
  }

  test("an unknown option is refused with the nearest name") {
    val error = intercept[SpliceOptionException] {
      spark.readStream
        .format("splice-kafka")
        .option("kafka.bootstrap.servers", "localhost:1")
        .option("subscirbe", "orders")
        .load()
    }
    assert(error.getMessage.contains("'subscirbe' is unknown. Did you mean 'subscribe'?"))
  }

  test("the aliases say which source it is") {
    val path = numbers("alias", 0, 10, 1)
    assert(spark.read.format("splice-files").option("format", "parquet").option("path", path).load().count() == 10)
  }

  test("writing is refused, and the error says what to use") {
    val path  = numbers("writing", 0, 10, 1)
    val error = intercept[SpliceUnsupportedException] {
      spark.range(1).write.format("splice-files").option("format", "parquet").option("path", path).mode("append").save()
    }
    assert(error.getCondition == "SPLICE_READ_ONLY")
    assert(error.getMessage.contains("use Spark's own sink, format(\"kafka\")"))
  }

  test("a SQL table is a batch, and a stream") {
    val path = numbers("table", 0, 100, 2)
    spark.sql(s"CREATE TABLE numbers USING splice OPTIONS (source 'files', format 'parquet', path '$path')")
    try {
      assert(spark.sql("SELECT * FROM numbers").count() == 100)
      drain(spark.sql("SELECT * FROM STREAM numbers"), "table")
      assert(idsOut("table") == (0L until 100L))
    } finally { val _ = spark.sql("DROP TABLE numbers") }
  }

  test("what Python asks before it reads") {
    val none = java.util.Map.of("source", "files", "path", "/x")
    assert(PythonApi.check(none).contains("The option 'format' is missing"))
    assert(PythonApi.check(java.util.Map.of("source", "files", "path", "/x", "format", "parquet")) == "")
  }
}
