// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark

import java.io.FileNotFoundException

import scala.jdk.CollectionConverters._

import org.apache.hadoop.fs.{FileSystem, Path}
import org.apache.spark.sql.types._
import org.apache.spark.sql.{DataFrame, Row, SparkSession}

import splice.coordinator.internal.sidelog.HadoopSideLog
import splice.source.errors.CheckpointErrors
import splice.source.internal.HadoopConfiguration
import splice.source.runtime.{HistoryEvent, SideLog}
import splice.source.{KeepsHistory, SourceProvider}

/** Changes that the sources of a query have stored in its checkpoint: clusters and topics that were added or removed,
  * and hand-overs to the next leg.
  */
object QueryHistory {

  /** `source` is the number of the source in the query, followed by the leg if the source is a hybrid. `change` is the
    * number of the stored change.
    */
  val schema: StructType = StructType(Seq(
    StructField("source", StringType, nullable = false),
    StructField("change", LongType, nullable = false),
    StructField("at", TimestampType),
    StructField("generation", LongType),
    StructField("event", StringType, nullable = false),
    StructField("names", ArrayType(StringType, containsNull = false), nullable = false)
  ))

  /** Returns the history of the query with this checkpoint. The query may be running, because the method reads only the
    * checkpoint.
    *
    * @throws splice.source.errors.SpliceException
    *   if the checkpoint does not exist
    */
  def of(spark: SparkSession, checkpoint: String): DataFrame = {
    val rows = events(spark, checkpoint).map { case (source, e) =>
      Row(source, e.number, e.at.orNull, e.generation.map(Long.box).orNull, e.event, e.names)
    }
    spark.createDataFrame(rows.asJava, schema)
  }

  private[spark] def events(spark: SparkSession, checkpoint: String): Seq[(String, HistoryEvent)] =
    find(spark, checkpoint).getOrElse(throw CheckpointErrors.notFound(checkpoint))

  /** Returns the history, or None if the checkpoint does not exist or no source has written to the checkpoint. */
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

  /** Returns the folder of a side log, and the folders of the side logs of its parts. */
  private[spark] def logs(fs: FileSystem, folder: Path): Seq[Path] =
    if (fs.exists(folder)) folder +: folders(fs, folder).filter(_.getName != SideLog.SparkFolder).flatMap(logs(fs, _))
    else Nil

  private[spark] def folders(fs: FileSystem, in: Path): Seq[Path] =
    fs.listStatus(in).toSeq.filter(_.isDirectory).map(_.getPath).sortBy(_.getName)
}
