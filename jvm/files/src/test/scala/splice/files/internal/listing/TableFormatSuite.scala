// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.listing

import java.nio.file.{Files, Paths}

import org.scalatest.funsuite.AnyFunSuite

import splice.files.{LocalSpark, SourceRead}
import splice.source.errors.SpliceException

/** Tests that folders of table formats are rejected, because their files alone do not define the rows of the table. */
final class TableFormatSuite extends AnyFunSuite with LocalSpark {

  private def table(name: String, marker: String): String = {
    spark.range(5).write.parquet(at(s"$name/data/day=1"))
    val file = Paths.get(at(s"$name/$marker"))
    Files.createDirectories(file.getParent)
    Files.writeString(file, "{}")
    at(name)
  }

  private def failure(path: String, options: (String, String)*): SpliceException =
    intercept[SpliceException](SourceRead(Seq("format" -> "parquet", "path" -> path) ++ options: _*).source.schema)

  private val tables = Seq(
    ("delta", "_delta_log/00000000000000000000.json", "Delta Lake"),
    ("iceberg", "metadata/00000-a.metadata.json", "Apache Iceberg"),
    ("hudi", ".hoodie/hoodie.properties", "Apache Hudi")
  )

  tables.foreach { case (name, marker, format) =>
    test(s"a folder of $format and all its files and subfolders are rejected") {
      val path  = table(name, marker)
      val files = Seq(path, s"$path/data", s"$path/data/day=1", s"$path/data/*", s"$path/data/day=1/*.parquet")
      files.foreach { given =>
        val error = failure(given)
        assert(error.getCondition == "SPLICE_FILES_OPTION.TABLE_FORMAT_NOT_SUPPORTED")
        Seq(format, path, "'source' = 'table'", "'basePath'").foreach(words => assert(error.getMessage.contains(words)))
      }
      assert(failure(folder.toString, "recursiveFileLookup" -> "true").getCondition ==
        "SPLICE_FILES_OPTION.TABLE_FORMAT_NOT_SUPPORTED")
      val own = SourceRead("format" -> "parquet", "path" -> s"$path/data", "basePath" -> s"$path/data")
      assert(own.rows().size == 5)
      Files.walk(Paths.get(path)).sorted(java.util.Comparator.reverseOrder()).forEach(Files.delete(_))
    }
  }

  test("a folder named metadata without table metadata is accepted") {
    val path = table("plain", "metadata/notes.txt")
    assert(SourceRead("format" -> "parquet", "path" -> s"$path/data").rows().size == 5)
  }
}
