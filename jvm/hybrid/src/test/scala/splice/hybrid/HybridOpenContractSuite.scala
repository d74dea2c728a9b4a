// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid

import java.nio.file.Files

import org.apache.spark.sql.SaveMode

import splice.source.{Position, Source}
import splice.testkit.OpenEndedContract

/** The contracts of all sources and of sources that are read without an end, over a chain of two folders. */
final class HybridOpenContractSuite extends OpenEndedContract with LocalSpark {

  override protected def world(): World = new World {
    private val folders = Seq("old", "new").map(leg => leg -> Files.createTempDirectory(s"open-$leg").toString)
    grow()

    override def source(): Source[_ <: Position] = Legs.source(folders.map { case (leg, path) =>
      leg -> Seq("source" -> "files", "format" -> "parquet", "path" -> path)
    }: _*)

    override def grow(): Unit = folders.zipWithIndex.foreach { case ((_, path), i) =>
      spark.range(i * 100L, i * 100L + 40, 1, 3).write.mode(SaveMode.Append).parquet(path)
    }
  }
}
