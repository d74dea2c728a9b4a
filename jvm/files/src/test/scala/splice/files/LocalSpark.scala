// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files

import java.nio.file.{Files, Path}
import java.util.Comparator

import org.apache.spark.sql.SparkSession
import org.scalatest.{BeforeAndAfterAll, Suite}

import splice.files.storage.CountingFileSystem

/** Session with two cores, shared by the suites of one JVM, and a folder that is deleted at the end of the suite. */
trait LocalSpark extends BeforeAndAfterAll { this: Suite =>

  protected lazy val spark: SparkSession = LocalSpark.session

  protected lazy val folder: Path = Files.createTempDirectory("splice-files")

  /** Path below the folder of the suite. */
  protected def at(name: String): String = folder.resolve(name).toString

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    SparkSession.setActiveSession(spark)
  }

  override protected def afterAll(): Unit =
    try if (Files.exists(folder)) Files.walk(folder).sorted(Comparator.reverseOrder[Path]).forEach(Files.delete(_))
    finally super.afterAll()
}

private object LocalSpark {

  private lazy val session: SparkSession = SparkSession
    .builder()
    .master("local[2]")
    .appName("splice-files")
    .config("spark.ui.enabled", "false")
    .config("spark.sql.shuffle.partitions", "2")
    .config("spark.sql.session.timeZone", "UTC")
    .config("spark.hadoop.fs.counting.impl", classOf[CountingFileSystem].getName)
    .config("spark.hadoop.fs.counting.impl.disable.cache", "true")
    .getOrCreate()
}
