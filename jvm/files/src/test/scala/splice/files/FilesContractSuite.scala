// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files

import java.io.File
import java.nio.file.Files

import org.apache.commons.io.FileUtils
import org.apache.spark.sql.SaveMode

import splice.source.{Position, Source}
import splice.testkit.OpenEndedContract

final class FilesContractSuite extends OpenEndedContract with LocalSpark {

  override protected def world(): World = new World {
    private val path = Files.createTempDirectory(folder, "world").toString

    grow()

    override def source(): Source[_ <: Position] = SourceRead.source("format" -> "parquet", "path" -> path)

    override def grow(): Unit = spark.range(0, 100, 1, 5).write.mode(SaveMode.Append).parquet(path)

    override def unavailable(): Source[_ <: Position] = {
      FileUtils.deleteDirectory(new File(path))
      source()
    }
  }
}
