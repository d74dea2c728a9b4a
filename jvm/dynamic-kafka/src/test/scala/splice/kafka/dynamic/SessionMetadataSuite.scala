// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic

import java.net.URI
import java.nio.file.Files
import java.time.Clock

import scala.util.Using

import org.apache.hadoop.fs.{Path, RawLocalFileSystem}
import org.apache.spark.sql.SparkSession
import org.scalatest.BeforeAndAfterAll
import org.scalatest.funsuite.AnyFunSuite

import splice.coordinator.internal.sidelog.MemorySideLog
import splice.kafka.dynamic.internal.settings.DynamicSettings
import splice.source.errors.SpliceException
import splice.source.options.SourceOptions
import splice.source.{EnumeratorContext, ReadMode, StartPosition}

/** Local file system with a scheme that only a session setting defines. */
final class SessionFileSystem extends RawLocalFileSystem {

  override def getUri: URI = URI.create("session:///")

  override def getScheme: String = "session"

  override def checkPath(path: Path): Unit = ()
}

/** Tests of the Hadoop settings for `metadata.file`. */
final class SessionMetadataSuite extends AnyFunSuite with BeforeAndAfterAll {

  private lazy val spark = SparkSession.builder().master("local[1]").getOrCreate()

  override protected def afterAll(): Unit = spark.stop()

  test("the file is read with the settings of the session, like the checkpoint") {
    SparkSession.setActiveSession(spark)
    spark.conf.set("fs.session.impl", classOf[SessionFileSystem].getName)
    val file    = Files.writeString(Files.createTempFile("streams", ".yaml"), "version: 2\n")
    val created = new DynamicKafkaSource(DynamicSettings(SourceOptions(Map(
      "metadata.file" -> s"session://${file.toAbsolutePath}",
      "streams"       -> "orders"
    ))))
    val context = EnumeratorContext(new MemorySideLog, ReadMode.Stream, Clock.systemUTC(), 2, "session")
    try Using.resource(created.enumerator(context)) { enumerator =>
        val error = intercept[SpliceException](enumerator.start(StartPosition.Configured))
        assert(error.getCondition == "SPLICE_METADATA.VERSION_NOT_SUPPORTED", error)
      }
    finally Files.delete(file)
  }
}
