// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files

import java.io.OutputStream
import java.nio.file.{Files, Path}
import java.util.zip.GZIPOutputStream

import scala.util.{Random, Using}

import org.apache.spark.sql.types.StructType
import org.scalatest.Suite

/** Folders of random files with one column. Some files are splittable. */
trait RandomFiles extends LocalSpark { this: Suite =>

  protected val value = StructType.fromDDL("value STRING")

  /** Folder of random files, with all their values. */
  protected case class World(format: String, path: String, values: Seq[String])

  protected def world(format: String, random: Random): World = {
    val path  = Files.createTempDirectory(folder, format)
    val files = (0 to random.nextInt(5)).map { n =>
      val count = if (random.nextInt(4) == 0) random.nextInt(3) else random.nextInt(60)
      n -> (0 until count).map(i => s"$n-$i-" + "x" * random.nextInt(12))
    }
    files.foreach { case (n, rows) => write(format, path, n, rows, isZipped = random.nextInt(4) == 0) }
    World(format, path.toString, files.flatMap(_._2))
  }

  private def write(format: String, path: Path, n: Int, rows: Seq[String], isZipped: Boolean): Unit =
    if (format == "parquet") {
      import spark.implicits._
      val out = spark.createDataset(rows).coalesce(1).write.mode("append")
      out.option("parquet.block.size", "100").option("parquet.page.size.row.check.min", "1").parquet(path.toString)
    } else {
      val suffix                  = if (isZipped) ".gz" else ""
      val file                    = Files.newOutputStream(path.resolve(s"$n.$format$suffix"))
      def text(row: String)       = if (format == "json") s"""{"value":"$row"}""" else row
      def print(to: OutputStream) = to.write(rows.map(text(_) + "\n").mkString.getBytes)
      Using.resource(if (isZipped) new GZIPOutputStream(file) else file)(print)
    }

  protected def source(world: World, maxPartitionBytes: Long): FileSource = SourceRead.source(
    "format"            -> world.format,
    "path"              -> world.path,
    "schema"            -> "value STRING",
    "maxPartitionBytes" -> maxPartitionBytes.toString
  )
}
