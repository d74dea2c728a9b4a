// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.tables

import java.io.File
import java.nio.file.Files

import org.apache.commons.io.FileUtils

import splice.source.{Position, Source}
import splice.testkit.SourceContract

final class TableContractSuite extends SourceContract with DeltaSpark {

  override protected def world(): World = new World {
    private val table = new CopiedTable(Files.createTempDirectory(folder, "world"))

    grow()

    override def source(): Source[_ <: Position] = TableContractSuite.this.source(
      "format"             -> "delta",
      "path"               -> table.path.toString,
      "maxBytesPerTrigger" -> "1k"
    )

    override def grow(): Unit = table.commit()

    override def unavailable(): Source[_ <: Position] = {
      FileUtils.deleteDirectory(new File(table.path.toString))
      source()
    }
  }
}
