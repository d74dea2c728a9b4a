// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark.chain

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.functions.{col, concat, lit, sha2}
import org.scalatest.funsuite.AnyFunSuite

import splice.spark.WithSpark

/** Long chains of files, and files that no reader can split. */
final class ManyLegsSuite extends AnyFunSuite with WithSpark {

  private val Legs = 12

  test("12 legs of files are read once, in the order of the legs") {
    val names   = (1 to Legs).map(i => s"leg$i")
    val options = names.zipWithIndex.flatMap { case (name, i) =>
      Seq(
        "source"             -> "files",
        "format"             -> "parquet",
        "path"               -> numbers(name, i * 10L, i * 10L + 10, files = 2),
        "maxFilesPerTrigger" -> "1"
      ).map { case (key, value) => s"$name.$key" -> value }
    }
    val chain = Map("source" -> "hybrid", "legs" -> names.mkString(",")) ++ options
    val frame = spark.readStream.format("splice").options(chain).load().selectExpr("id", "_leg AS leg")
    val query = drain(frame, "many")
    assert(idsOut("many") == (0L until Legs * 10L))
    val out = spark.read.parquet(folder.resolve("many-out").toString)
    assert(out.filter(col("leg") =!= concat(lit("leg"), (col("id") / 10).cast("int") + 1)).count() == 0)
    val progress = query.recentProgress.filter(_.numInputRows > 0).map(_.sources.head.metrics.asScala)
    assert(progress.map(_("leg")).toSeq == names.flatMap(name => Seq(name, name)))
    assert(progress.last("switchesTotal") == (Legs - 1).toString)
  }

  test("a .gz csv of several MB is read once, completely and in order, although blocks are small") {
    val path = folder.resolve("gz").toString
    val rows = 60000L
    // Digests do not compress, so the file stays larger than many blocks.
    spark.range(0, rows, 1, 1).select(col("id"), sha2(col("id").cast("string"), 512).as("text"))
      .write.option("compression", "gzip").csv(path)
    val size = new java.io.File(path).listFiles.filter(_.getName.endsWith(".csv.gz")).map(_.length)
    assert(size.length == 1 && size.head > 3000000L)
    val frame = spark.readStream.format("splice").options(Map(
      "source"            -> "files",
      "format"            -> "csv",
      "path"              -> path,
      "schema"            -> "id BIGINT, text STRING",
      "maxPartitionBytes" -> "65536"
    )).load()
    val query = drain(frame, "gz")
    val out   = spark.read.parquet(folder.resolve("gz-out").toString)
    assert(out.count() == rows && idsOut("gz") == (0L until rows))
    assert(out.filter(col("text") =!= sha2(col("id").cast("string"), 512)).count() == 0)
    assert(query.recentProgress.map(_.numInputRows).filter(_ > 0).toSeq == Seq(rows))
  }
}
