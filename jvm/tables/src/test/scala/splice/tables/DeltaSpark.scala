// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.tables

import java.nio.file.{Files, Path}
import java.util.Comparator

import org.apache.commons.io.FileUtils
import org.apache.spark.sql.{SaveMode, SparkSession}
import org.scalatest.{BeforeAndAfterAll, Suite}

import splice.source.options.SourceOptions
import splice.source.{Position, Source, SourceProvider}

/** Session with Delta and two cores, shared by the suites of one JVM, and a folder that is deleted at the end of the
  * suite.
  */
trait DeltaSpark extends BeforeAndAfterAll { this: Suite =>

  protected lazy val spark: SparkSession = DeltaSpark.session

  protected lazy val folder: Path = Files.createTempDirectory("splice-tables")

  /** Path below the folder of the suite. */
  protected def at(name: String): String = folder.resolve(name).toString

  /** Table of Delta that is a copy of the first versions of another table. A copy is faster than a commit. */
  final protected class CopiedTable(val path: Path) {

    private var versions = 0

    /** Adds the next version. There are six versions, each with 100 rows in 4 partitions. */
    def commit(): Unit = {
      val from  = DeltaSpark.prepared
      val log   = f"_delta_log/$versions%020d.json"
      val added = "\"path\":\"([^\"]+)\"".r.findAllMatchIn(Files.readString(from.resolve(log))).map(_.group(1))
      (added.toSeq :+ log).foreach { file =>
        Files.createDirectories(path.resolve(file).getParent)
        Files.copy(from.resolve(file), path.resolve(file))
      }
      versions += 1
    }
  }

  protected def source(options: (String, String)*): Source[_ <: Position] =
    SourceProvider.create(SourceOptions(Map("source" -> "table") ++ options))

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    SparkSession.setActiveSession(spark)
  }

  override protected def afterAll(): Unit =
    try if (Files.exists(folder)) Files.walk(folder).sorted(Comparator.reverseOrder[Path]).forEach(Files.delete(_))
    finally super.afterAll()
}

private object DeltaSpark {

  private lazy val prepared: Path = {
    val path = Files.createTempDirectory("splice-prepared")
    Runtime.getRuntime.addShutdownHook(new Thread(() => FileUtils.deleteDirectory(path.toFile)))
    (0 until 6).foreach { _ =>
      session.range(0, 100, 1, 2).selectExpr("id", "id % 4 AS day")
        .write.format("delta").partitionBy("day").mode(SaveMode.Append).save(path.toString)
    }
    path
  }

  private lazy val session: SparkSession = SparkSession
    .builder()
    .master("local[2]")
    .appName("splice-tables")
    .config("spark.ui.enabled", "false")
    .config("spark.sql.session.timeZone", "UTC")
    .config("spark.sql.extensions", "io.delta.sql.DeltaSparkSessionExtension")
    .config("spark.sql.catalog.spark_catalog", "org.apache.spark.sql.delta.catalog.DeltaCatalog")
    .config("spark.databricks.delta.snapshotPartitions", "1")
    .config("spark.sql.sources.parallelPartitionDiscovery.parallelism", "2")
    .config("spark.sql.shuffle.partitions", "1")
    .getOrCreate()
}
