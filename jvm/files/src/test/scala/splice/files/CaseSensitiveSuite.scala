// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files

import java.nio.file.{Files, Paths}

import org.apache.spark.sql.types.StructType
import org.scalatest.funsuite.AnyFunSuite

import splice.source.errors.SpliceException

/** Tests of columns that differ only in case, in a case-sensitive session. */
final class CaseSensitiveSuite extends AnyFunSuite with LocalSpark {

  private val Key = "spark.sql.caseSensitive"

  private def sensitive[A](body: => A): A = {
    spark.conf.set(Key, "true")
    try body
    finally spark.conf.unset(Key)
  }

  private def json(file: String, line: String): Unit = {
    Files.createDirectories(Paths.get(at(file)).getParent)
    val _ = Files.writeString(Paths.get(at(file)), line)
  }

  test("two columns of a file that differ in case are read in any order") {
    sensitive {
      spark.sql("SELECT 1 AS a, 2 AS A").write.parquet(at("two"))
      json("lines/1.json", """{"a":1,"A":2}""")
      Seq("parquet" -> at("two"), "json" -> at("lines")).foreach { case (format, path) =>
        val read = SourceRead("format" -> format, "path" -> path)
        val own  = spark.read.format(format).load(path)
        assert(read.rows() == SourceRead.ofSpark(own))
        val turned = StructType(read.source.schema.reverse)
        assert(read.rows(turned) == SourceRead.ofSpark(own.select(turned.fieldNames.map(own.col(_)).toSeq: _*)))
      }
    }
  }

  test("a partition column and a file column that differ in case are two columns") {
    sensitive {
      json("folders/Dt=7/1.json", """{"dt":1}""")
      val own = spark.read.json(at("folders"))
      Seq(Nil, Seq("schema" -> "dt BIGINT")).foreach { schema =>
        val read = SourceRead(Seq("format" -> "json", "path" -> at("folders")) ++ schema: _*)
        assert(read.source.schema == own.schema)
        assert(read.rows() == SourceRead.ofSpark(own))
      }
    }
  }

  test("a file column hides only a metadata column of the same case") {
    sensitive {
      json("hides/1.json", """{"_FILE_SIZE":1}""")
      val read  = SourceRead("format" -> "json", "path" -> at("hides"))
      val names = (read.source.schema ++ read.source.metadataColumns).filter(_.name.equalsIgnoreCase("_file_size"))
      assert(names.map(_.name) == Seq("_FILE_SIZE", "_file_size"))
      val own = spark.read.json(at("hides")).selectExpr("_FILE_SIZE", "_metadata.file_size AS _file_size")
      assert(read.rows(StructType(names)) == SourceRead.ofSpark(own))
    }
  }

  test("two file columns that differ in case are an error in a case-insensitive session, as in Spark") {
    json("both/1.json", """{"a":1,"A":2}""")
    intercept[org.apache.spark.sql.AnalysisException](spark.read.json(at("both")))
    val error = intercept[SpliceException](SourceRead("format" -> "json", "path" -> at("both")).source.schema)
    assert(error.getCondition == "SPLICE_FILES_OPTION.DUPLICATE_COLUMN")
    Seq("A, a", at("both"), Key).foreach(words => assert(error.getMessage.contains(words)))
  }
}
