// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark

import java.io.FileNotFoundException

import scala.jdk.CollectionConverters._

import org.apache.hadoop.fs.{FileSystem, Path}
import org.apache.spark.sql.types._
import org.apache.spark.sql.{DataFrame, Row, SparkSession}

import splice.coordinator.sidelog.HadoopSideLog
import splice.source.errors.CheckpointErrors
import splice.source.internal.HadoopConfiguration
import splice.source.runtime.HistoryEvent
import splice.source.{KeepsHistory, SourceProvider}

/** What the sources of a query have written down in its checkpoint of what happened: clusters and topics that came and
  * went, and legs that took over.
  */
object QueryHistory {

  /** `source` counts the query's sources and names the leg within one, `change` counts what was written down. */
  val schema: StructType = StructType(Seq(
    StructField("source", StringType, nullable = false),
    StructField("change", LongType, nullable = false),
    StructField("at", TimestampType),
    StructField("generation", LongType),
    StructField("event", StringType, nullable = false),
    StructField("names", ArrayType(StringType, containsNull = false), nullable = false)
  ))

  /** The history of the query with this checkpoint, which may be running; asks nobody else.
    *
    * @throws splice.source.errors.SpliceException
    *   when there is no checkpoint
    */
  def of(spark: SparkSession, checkpoint: String): DataFrame = {
    val rows = events(spark, checkpoint).map { case (source, e) =>
      Row(source, e.number, e.at.orNull, e.generation.map(Long.box).orNull, e.event, e.names)
    }
    spark.createDataFrame(rows.asJava, schema)
  }

  private[spark] def events(spark: SparkSession, checkpoint: String): Seq[(String, HistoryEvent)] =
    find(spark, checkpoint).getOrElse(throw CheckpointErrors.notThere(checkpoint))

  /** None if there is no checkpoint, or no source has written into it. */
  private[spark] def find(spark: SparkSession, checkpoint: String): Option[Seq[(String, HistoryEvent)]] = {
    val folder        = new Path(checkpoint, "sources")
    val configuration = HadoopConfiguration(spark)
    val fs            = folder.getFileSystem(configuration)
    val sources       =
      try Some(folders(fs, folder))
      catch { case _: FileNotFoundException => None }
    sources.map(_.flatMap { source =>
      for {
        log <- logs(fs, new Path(source, "splice"))
        events = SourceProvider.all.collect { case keeper: KeepsHistory => keeper }.flatMap(
          _.history(new HadoopSideLog(log, configuration))
        )
        name = log.toString.stripPrefix(s"$source/splice").stripPrefix("/")
        event <- events
      } yield Seq(source.getName, name).filter(_.nonEmpty).mkString("/") -> event
    })
  }

  /** A side log and those of its parts. */
  private def logs(fs: FileSystem, folder: Path): Seq[Path] =
    if (fs.exists(folder)) folder +: folders(fs, folder).flatMap(logs(fs, _)) else Nil

  private def folders(fs: FileSystem, in: Path): Seq[Path] =
    fs.listStatus(in).toSeq.filter(_.isDirectory).map(_.getPath).sortBy(_.getName)
}
