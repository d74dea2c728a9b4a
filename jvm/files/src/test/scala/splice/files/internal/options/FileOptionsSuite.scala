// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.options

import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.StructType
import org.scalatest.funsuite.AnyFunSuite

import splice.files.internal.settings.FileSettings
import splice.files.{FileSource, FileSourceProvider}
import splice.source.SourceProvider
import splice.source.errors.SpliceOptionException
import splice.source.options.{FailOrWarn, SourceOptions}

/** Tests of supported, forwarded and rejected options. */
final class FileOptionsSuite extends AnyFunSuite {

  private def create(options: (String, String)*) =
    SourceProvider.create(SourceOptions(Map("source" -> "files", "format" -> "parquet", "path" -> "/x") ++ options))

  private def refused(options: (String, String)*): String =
    intercept[SpliceOptionException](create(options: _*)).getMessage

  test("options of a file format are accepted and forwarded") {
    val csv = Map(
      "sep"         -> ";",
      "header"      -> "true",
      "quote"       -> "'",
      "mode"        -> "FAILFAST",
      "locale"      -> "de",
      "mergeSchema" -> "true"
    )
    create(csv.toSeq: _*)
    val settings = FileSettings(SourceOptions(csv ++
      Map("format" -> "csv", "path" -> "/x", "slots" -> "3", "pathGlobFilter" -> "*.csv")))
    assert(settings.spark.originalMap == csv + ("pathGlobFilter" -> "*.csv"))
  }

  test("options of the source and of the query are not forwarded to a format, in any case") {
    val own = Map(
      "FORMAT"                 -> "csv",
      "PATH"                   -> "/x",
      "MaxFilesPerTrigger"     -> "3",
      "minPartitions"          -> "4",
      "MAXRECORDSPERPARTITION" -> "5",
      "CheckpointStore"        -> "unsafe",
      "onfilechanged"          -> "warn",
      "Header"                 -> "true"
    )
    val settings = FileSettings(SourceOptions(own))
    assert(settings.spark.originalMap == Map("Header" -> "true") && settings.limits.files.contains(3))
    assert(settings.reader.values.keySet == Set("Header") && settings.onFileChanged == FailOrWarn.Warn)
  }

  test("a leg before another one needs files, and has a limit unless the user sets one") {
    def before(options: (String, String)*) =
      new FileSourceProvider().beforeAnotherLeg(SourceOptions(Map(options: _*))).toMap
    assert(before() == Map("onEmpty" -> "fail", "maxBytesPerTrigger" -> "8g"))
    Seq("maxBytesPerTrigger" -> "1g", "maxFilesPerTrigger" -> "5").foreach { limit =>
      assert(before(limit) == Map("onEmpty" -> "fail"))
    }
  }

  test("an option that resembles an option of the source is rejected as a typing error") {
    assert(refused("maxFilesPerTriger" -> "1").contains("'maxFilesPerTrigger'"))
    assert(refused("pathGlobFiltr" -> "1").contains("'pathGlobFilter'"))
    assert(refused("formt" -> "1").contains("'format'"))
    create("maxFilesPerTriger" -> "1", "onUnknownOption" -> "warn")
  }

  test("options of Spark's file stream are rejected with a replacement") {
    Seq(
      "latestFirst"             -> "'orderBy'",
      "maxFileAge"              -> "'modifiedAfter'",
      "cleanSource"             -> "outside of the query",
      "sourceArchiveDir"        -> "outside of the query",
      "fileNameOnly"            -> "path",
      "maxCachedFiles"          -> "each listing",
      "discardCachedInputRatio" -> "each listing"
    ).foreach { case (key, remedy) =>
      val text = refused(key -> "true", "onUnknownOption" -> "warn")
      Seq("SPLICE_FILES_OPTION.OPTION_NOT_SUPPORTED", s"'$key'", remedy).foreach(words => assert(text.contains(words)))
    }
    val leg   = Map("old.format" -> "csv", "old.path" -> "/x", "old.LatestFirst" -> "true")
    val error = intercept[SpliceOptionException](FileSettings(SourceOptions(leg).scope("old"))).getMessage
    assert(error.contains("'old.latestFirst'") && error.contains("'old.orderBy'"))
    create("maxFilesPerTrigger" -> "1", "maxBytesPerTrigger" -> "1m")
  }

  test("an invalid value is rejected with the allowed values") {
    assert(refused("maxFilesPerTrigger" -> "0").contains("1 or more"))
    assert(refused("orderBy" -> "size").contains("modificationTime, path"))
    assert(refused("onFileChanged" -> "x").contains("fail, warn"))
    assert(refused("schema" -> "id BIGINTEGER").contains("'id BIGINTEGER'"))
    Seq("""{"type":"struct","fields":[]}""", "\"long\"", "{").foreach { text =>
      assert(refused("schema" -> text).contains("'schema'"), text)
    }
    assert(refused("recursiveFileLookup" -> "yes").contains("true or false"))
    assert(refused("maxPartitionBytes" -> "many").contains("128m"))
    Seq("discoveryInterval", "discoveryTimeout").foreach { key =>
      val text = refused("discovery" -> "watch", key -> "0s")
      Seq("'0s'", s"'$key'", "more than 0").foreach(words => assert(text.contains(words)))
    }
    create("discovery" -> "watch", "discoveryInterval" -> "1ms", "minFileAge" -> "0s")
  }

  test("exactly one of path and paths must be set") {
    assert(refused("paths" -> """["/y"]""").contains("path, paths"))
    def without(options: (String, String)*) =
      intercept[SpliceOptionException](SourceProvider.create(SourceOptions(Map(
        "source" -> "files",
        "format" -> "text"
      ) ++ options)))
    assert(without().getMessage.contains("'path' is missing"))
    assert(without("paths" -> "/x,/y").getMessage.contains("JSON array"))
    Seq("[]", "[1]", """["/x",""]""", """["/x",2]""").foreach { paths =>
      assert(without("paths" -> paths).getMessage.contains("JSON array"), paths)
    }
    assert(without("path" -> " ").getMessage.contains("'path'"))
  }

  test("the option format is required") {
    val error =
      intercept[SpliceOptionException](SourceProvider.create(SourceOptions(Map("source" -> "files", "path" -> "/x"))))
    assert(error.getMessage.contains("'format' is missing"))
  }

  test("a schema can be DDL or JSON") {
    val schema = StructType.fromDDL("id BIGINT, name STRING")
    Seq("id BIGINT, name STRING", schema.json, "id BIGINT, name VARCHAR(10)").foreach { text =>
      val parsed = FileSettings(SourceOptions(Map("format" -> "csv", "path" -> "/x", "schema" -> text))).schema
      assert(parsed.exists(_.map(f => f.name -> f.dataType) == schema.map(f => f.name -> f.dataType)))
    }
  }

  test("a builder keeps the order of options and checks them") {
    val spec = FileSource.builder("csv", "/a b", "/c").option(
      "header",
      "true"
    ).schema("id BIGINT").option("header", "false").build()
    assert(
      spec.options.toSeq == Seq(
        "source" -> "files",
        "format" -> "csv",
        "paths"  -> """["/a b","/c"]""",
        "schema" -> "id BIGINT",
        "header" -> "false"
      )
    )
    val again = FileSource.builder("csv", "/a").option("Header", true).options(Map("HEADER" -> "false", "sep" -> ";"))
    assert(again.build().options.toSeq.drop(3) == Seq("HEADER" -> "false", "sep" -> ";"), "the last value wins")
    assert(FileSource.builder("parquet", "/a").build().options("path") == "/a")
    assert(FileSource.builder("parquet", "/a").onEmpty("fail").build().options("onEmpty") == "fail")
    intercept[SpliceOptionException](FileSource.builder("parquet", "/a").onEmpty("ignore").build())
    intercept[SpliceOptionException](FileSource.builder("parquet").build())
    intercept[SpliceOptionException](FileSource.builder("excel", "/a").build())
  }
  test("a pattern of the user that hides a reader option does not change the stored options") {
    val conf = new SQLConf
    conf.setConfString("spark.sql.redaction.options.regex", "(?i)sep")
    val hidden = SQLConf.withExistingConf(conf)(ReaderOptions.of(Map("sep" -> ";")))
    assert(hidden.difference(ReaderOptions.of(Map("sep" -> ";"))).isEmpty)
  }
}
