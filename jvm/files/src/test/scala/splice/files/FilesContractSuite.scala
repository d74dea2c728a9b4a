// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files

import java.nio.file.{Files, Path}
import java.util.Comparator

import org.apache.spark.sql.{SaveMode, SparkSession}
import org.scalatest.BeforeAndAfterAll

import splice.source.{Source, SourceOptions, SourceProvider}
import splice.testkit.SourceContract

final class FilesContractSuite extends SourceContract with BeforeAndAfterAll {

  override protected lazy val spark: SparkSession = SparkSession.builder().master("local[2]").getOrCreate()

  private lazy val folder = Files.createTempDirectory("files-contract")

  override protected def afterAll(): Unit = {
    spark.stop()
    Files.walk(folder).sorted(Comparator.reverseOrder[Path]()).forEach(p => Files.delete(p))
    super.afterAll()
  }

  override protected def world(): World = new World {
    private val path = Files.createTempDirectory(folder, "world").toString

    grow()

    override def source(): Source =
      SourceProvider.create(SourceOptions(Map("source" -> "files", "format" -> "parquet", "path" -> path)))

    override def grow(): Unit = spark.range(0, 100, 1, 5).write.mode(SaveMode.Append).parquet(path)
  }
}
