// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark

import java.nio.file.Files

import org.scalatest.funsuite.AnyFunSuite

import splice.source.errors.{SpliceOptionException, SpliceUnsupportedException}
import splice.spark.internal.python.PythonApi
import splice.spark.internal.table.SpliceTable
import splice.testkit.LoggedMessages

final class SpliceProviderSuite extends AnyFunSuite with WithSpark {

  test("the option 'source' is required") {
    val error = intercept[SpliceOptionException](spark.read.format("splice").load())
    assert(error.getMessage.contains("The option 'source' is missing"))
  }

  test("an unknown source is rejected, with the names of all sources") {
    val error = intercept[SpliceOptionException](spark.read.format("splice").option("source", "kafak").load())
    assert(error.getMessage.contains(
      "'kafak' is not a valid value of option 'source'. Use dynamicKafka, files, hybrid, kafka"
    ))
  }

  test("an unknown option is rejected with the nearest name") {
    val error = intercept[SpliceOptionException] {
      spark.readStream
        .format("splice-kafka")
        .option("kafka.bootstrap.servers", "localhost:1")
        .option("subscirbe", "orders")
        .load()
    }
    assert(error.getMessage.contains("'subscirbe' is unknown. Did you mean 'subscribe'?"))
  }

  test("an invalid option of the whole query fails load() with the allowed values") {
    Seq("minPartitions" -> "0", "slots" -> "many", "maxRecordsPerPartition" -> "-1", "assigner" -> "any").foreach {
      case (option, value) =>
        val reader = spark.read.format("splice-kafka").option("kafka.bootstrap.servers", "localhost:1")
        val error  = intercept[SpliceOptionException](reader.option("subscribe", "t").option(option, value).load())
        assert(error.getCondition == "SPLICE_OPTION.INVALID_VALUE" &&
          error.getMessage.contains(s"'$value' is not a valid value of option '$option'"))
    }
  }

  test("the aliases set the source") {
    val path = numbers("alias", 0, 10, 1)
    assert(spark.read.format("splice-files").option("format", "parquet").option("path", path).load().count() == 10)
  }

  test("writing is rejected, and the error names an alternative") {
    val path  = numbers("writing", 0, 10, 1)
    val error = intercept[SpliceUnsupportedException] {
      spark.range(1).write.format("splice-files").option("format", "parquet").option("path", path).mode("append").save()
    }
    assert(error.getCondition == "SPLICE_SOURCE.WRITE_NOT_SUPPORTED")
    assert(error.getMessage.contains("use Spark's sink, format(\"kafka\")"))
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

  test("a SQL table has the option 'comment' of its files") {
    val path = Files.writeString(folder.resolve("commented.csv"), "# exported\nid,name\n1,a\n#2,b\n3,c\n").toString
    val csv  = Map("header" -> "true", "comment" -> "#")
    table("commented", Map("source" -> "files", "format" -> "csv", "path" -> path) ++ csv) {
      val found = spark.table("commented")
      val known = spark.read.options(csv).csv(path)
      assert(found.columns.toSeq == known.columns.toSeq && found.collect().toSeq == known.collect().toSeq)
    }
  }

  test("a SQL table has the files of several paths") {
    val paths   = Seq("several-a", "several-b").map(numbers(_, 0, 10, 1))
    val options = Map("source" -> "files", "format" -> "parquet", "paths" -> paths.mkString("[\"", "\",\"", "\"]"))
    table("several", options)(assert(spark.table("several").count() == 20))
  }

  test("a SQL table with both 'path' and 'paths' fails by name") {
    val path = numbers("both", 0, 10, 1)
    // Spark cannot drop the table, because Spark loads a table before the drop.
    create("both", Map("source" -> "files", "format" -> "parquet", "path" -> path, "paths" -> s"""["$path"]"""))
    val error = intercept[SpliceOptionException](spark.table("both"))
    assert(error.getMessage.contains("exactly one of these options must be set"))
  }

  test("a property of a SQL table is not an option") {
    val options = Map("source" -> "kafka", "kafka.bootstrap.servers" -> "localhost:1", "subscribe" -> "orders")
    table("described", options, "TBLPROPERTIES ('team' = 'data', 'slots' = 'many')") {
      assert(spark.table("described").columns.contains("value"))
      assert(spark.sql("DESCRIBE EXTENDED described").count() > 0)
    }
  }

  private def warnings(table: String): Seq[String] =
    LoggedMessages.during(classOf[SpliceTable].getName)(spark.table(table).collect())._2

  test("a query of a SQL table warns of properties with the name of an option, which have no effect") {
    val path    = numbers("altered", 0, 10, 1)
    val csv     = Map("mode" -> "FAILFAST")
    val options = Map("source" -> "files", "format" -> "parquet", "path" -> path, "maxFilesPerTrigger" -> "3") ++ csv
    table("altered", options, "COMMENT 'numbers' TBLPROPERTIES ('team' = 'data')") {
      assert(warnings("altered").isEmpty)
      spark.sql("ALTER TABLE altered SET TBLPROPERTIES ('MaxFilesPerTrigger' = '7', 'slots' = '2', 'mode' = 'x')")
      val (_, described) = LoggedMessages.during(classOf[SpliceTable].getName)(spark.sql("DESCRIBE altered").collect())
      assert(described.isEmpty)
      val found = warnings("altered")
      assert(found.size == 1 && found.head.contains("'MaxFilesPerTrigger' = '7', 'mode' = 'x', 'slots' = '2'."), found)
      assert(found.head.contains("no effect") && found.head.contains("OPTIONS"))
      val (_, ofStream) = LoggedMessages.during(classOf[SpliceTable].getName) {
        drain(spark.readStream.table("altered"), "altered")
      }
      assert(ofStream == found && idsOut("altered") == (0L until 10L))
      spark.sql("ALTER TABLE altered SET TBLPROPERTIES ('MaxFilesPerTrigger' = '3', 'mode' = 'FAILFAST')")
      spark.sql("ALTER TABLE altered UNSET TBLPROPERTIES ('slots')")
      assert(warnings("altered").isEmpty)
    }
  }

  test("a warning about properties of a SQL table includes options of legs and of the client, and hides secrets") {
    val path    = numbers("legs", 0, 10, 1)
    val leg     = Map("source" -> "files", "format" -> "parquet", "path" -> path)
    val options = Map("source" -> "hybrid", "legs" -> "one,two") ++
      Seq("one", "two").flatMap(name => leg.map { case (k, v) => s"$name.$k" -> v })
    table("legs", options) {
      val changes =
        Seq("one.maxFilesPerTrigger" -> "7", "Two.select" -> "id", "two.kafka.x" -> "1", "six.select" -> "id")
      spark.sql(s"ALTER TABLE legs SET TBLPROPERTIES (${changes.map { case (k, v) => s"'$k' = '$v'" }.mkString(", ")})")
      val found = warnings("legs")
      assert(found.size == 1 && found.head.contains(": 'Two.select' = 'id', 'one.maxFilesPerTrigger' = '7'."), found)
    }
    val kafka = Map("source" -> "kafka", "kafka.bootstrap.servers" -> "localhost:1", "subscribe" -> "orders")
    table("clients", kafka) {
      spark.sql("ALTER TABLE clients SET TBLPROPERTIES ('kafka.ssl.key.password' = 'hunter22')")
      val (_, found) = LoggedMessages.during(classOf[SpliceTable].getName) {
        spark.table("clients").queryExecution.optimizedPlan
      }
      assert(found.size == 1 && found.head.contains("'kafka.ssl.key.password'") && !found.head.contains("hunter22"))
    }
  }

  private def create(name: String, options: Map[String, String], more: String = ""): Unit = {
    val written = options.map { case (k, v) => s"'$k' '$v'" }.mkString(", ")
    val _       = spark.sql(s"CREATE TABLE $name USING splice OPTIONS ($written) $more")
  }

  private def table(name: String, options: Map[String, String], more: String = "")(check: => Unit): Unit = {
    create(name, options, more)
    try check
    finally { val _ = spark.sql(s"DROP TABLE $name") }
  }

  test("the properties of a table show no secret of the options") {
    val secret     = "hunter2"
    val properties = new SpliceTable(Map(
      "source"                        -> "dynamicKafka",
      "streams"                       -> "orders",
      "metadata.url"                  -> s"https://me:$secret@host/streams?version=1&sig=$secret",
      "metadata.header.Authorization" -> s"Bearer $secret",
      "metadata.header.X-Team"        -> secret,
      "kafka.sasl.jaas.config"        -> s"Login required password='$secret';"
    )).properties
    assert(properties.get("option.streams") == "orders")
    // A service may give any parameter of the address a secret meaning.
    val url = properties.get("option.metadata.url")
    assert(url.contains("host/streams?") && !url.contains("version=1"))
    properties.forEach((key, value) => assert(!value.contains(secret), key))
  }

  test("the check of options that Python calls before it reads") {
    val none = java.util.Map.of("source", "files", "path", "/x")
    assert(PythonApi.check(none).contains("The option 'format' is missing"))
    assert(PythonApi.check(java.util.Map.of("source", "files", "path", "/x", "format", "parquet")) == "")
  }
}
