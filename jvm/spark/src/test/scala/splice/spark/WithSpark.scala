// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark

import java.nio.file.{Files, Path}
import java.util.Comparator

import org.apache.spark.sql.streaming.{StreamingQuery, Trigger}
import org.apache.spark.sql.{DataFrame, SparkSession}
import org.scalatest.{BeforeAndAfterAll, Suite}

/** A local session and a temporary folder for one suite. Suites with the same settings share a Spark context. */
trait WithSpark extends BeforeAndAfterAll { this: Suite =>

  protected def settings: Map[String, String] = Map("spark.master" -> "local[2]", "spark.sql.shuffle.partitions" -> "2")

  protected lazy val spark: SparkSession = WithSpark.session(settings)

  protected lazy val folder: Path = Files.createTempDirectory("splice-spark")

  override protected def afterAll(): Unit = {
    spark.streams.active.foreach(_.stop())
    Files.walk(folder).sorted(Comparator.reverseOrder[Path]()).forEach(p => Files.delete(p))
    super.afterAll()
  }

  /** Writes `files` Parquet files that hold the numbers from `from` until `until`. */
  protected def numbers(name: String, from: Long, until: Long, files: Int): String = {
    val path = folder.resolve(name).toString
    spark.range(from, until, 1, files).write.parquet(path)
    path
  }

  /** Runs a stream to its end into a Parquet folder. */
  protected def drain(frame: DataFrame, name: String): StreamingQuery = {
    val query = frame.writeStream
      .format("parquet")
      .option("path", folder.resolve(s"$name-out").toString)
      .option("checkpointLocation", folder.resolve(s"$name-checkpoint").toString)
      .trigger(Trigger.AvailableNow())
      .start()
    query.awaitTermination()
    query
  }

  protected def idsOut(name: String): Seq[Long] = {
    import spark.implicits._
    spark.read.parquet(folder.resolve(s"$name-out").toString).select("id").as[Long].collect().toSeq.sorted
  }
}

private object WithSpark {

  // A JVM can have one Spark context.
  private var running = Option.empty[(Map[String, String], SparkSession)]

  private def session(settings: Map[String, String]): SparkSession = {
    val common = running.collect { case (`settings`, session) => session }.getOrElse {
      running.foreach(_._2.stop())
      val started = SparkSession.builder().appName("splice-tests").config(settings).getOrCreate()
      running = Some(settings -> started)
      started
    }
    val own = common.newSession()
    SparkSession.setActiveSession(own)
    SparkSession.setDefaultSession(own)
    own
  }
}
