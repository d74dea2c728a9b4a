// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark.internal.python

import java.time.Instant
import java.time.temporal.ChronoUnit
import java.util.{Map => JMap}

import scala.jdk.CollectionConverters._

import org.apache.hadoop.fs.Path
import org.apache.spark.SparkThrowable
import org.apache.spark.sql.SparkSession

import splice.coordinator.internal.sidelog.AtomicFile
import splice.source.SourceProvider
import splice.source.errors.{SpliceException, SpliceOptionException}
import splice.source.internal.entries.{CheckpointStore, Json}
import splice.source.options.SourceOptions
import splice.source.runtime.HistoryEvent
import splice.spark.internal.stream.{QueryCheckpoints, SourceLogs}
import splice.spark.{QueryHistory, SourcePlan}

/** Methods that the Python package calls through py4j. All results are strings. */
private[spark] object PythonApi {

  /** Checks the options of a source without reading. Returns "" if the options are valid, otherwise the error as a JSON
    * object.
    */
  def check(options: JMap[String, String]): String =
    try {
      val _ = SourceProvider.create(SourceOptions(options.asScala.toMap))
      ""
    } catch {
      case e: SpliceOptionException => json(e)
      case e: SpliceException       => json(e)
    }

  private def json(error: Throwable with SparkThrowable): String = Json.write(Json.obj(
    "message"    -> Json.text(error.getMessage),
    "condition"  -> Json.text(error.getCondition),
    "sqlState"   -> Json.text(error.getSqlState),
    "parameters" -> Json.obj(error.getMessageParameters.asScala.toSeq.map { case (k, v) => k -> Json.text(v) }: _*)
  ))

  /** Returns the [[QueryHistory]] of a checkpoint, read with a session, as a JSON array of row objects. The field `at` is
    * in microseconds.
    */
  def history(spark: SparkSession, checkpoint: String): String =
    json(QueryHistory.events(spark, checkpoint))

  /** Returns the [[history]] of a query that this driver has started. The result has no rows for another query, or for
    * a query that has written no history.
    */
  def historyOf(query: String): String =
    json(QueryCheckpoints.find(query).flatMap(of => QueryHistory.find(of.session, of.folder)).toSeq.flatten)

  private def json(events: Seq[(String, HistoryEvent)]): String = {
    val rows = events.map { case (source, e) =>
      val known = e.details.flatMap(Json.read).map("details" -> _) ++
        e.at.map(at => "at" -> Json.number(ChronoUnit.MICROS.between(Instant.EPOCH, at))) ++
        e.generation.map("generation" -> Json.number(_))
      Json.obj(Seq(
        "source" -> Json.text(source),
        "change" -> Json.number(e.number),
        "event"  -> Json.text(e.event),
        "names"  -> Json.array(e.names.map(Json.text))
      ) ++ known: _*)
    }
    Json.write(Json.array(rows))
  }

  /** Returns the [[SourceLogs]] of a checkpoint, read with a session, as a JSON array. */
  def sideLogs(spark: SparkSession, checkpoint: String): String =
    Json.write(Json.array(SourceLogs.of(spark, checkpoint).map(_.json)))

  /** Returns the [[SourcePlan]] of a source as one JSON object. */
  def plan(spark: SparkSession, options: JMap[String, String], scan: Boolean): String =
    SourcePlan.of(spark, options.asScala.toMap, scan).json

  /** Creates an empty file with a session, with the atomic creation of the files in a checkpoint.
    *
    * @throws splice.source.errors.SpliceException
    *   if the storage has no atomic creation
    */
  def createFile(spark: SparkSession, file: String): Unit = {
    val path          = new Path(file)
    val configuration = spark.sessionState.newHadoopConf()
    val fs            = path.getFileSystem(configuration)
    val _             = AtomicFile.create(fs, path, configuration, Array.emptyByteArray, CheckpointStore.Atomic)
  }

  /** Runs a command for a checkpoint with the active session, and returns the result as one JSON object.
    *
    * @param arguments
    *   the arguments of the command as a JSON object
    */
  def checkpoint(command: String, folder: String, arguments: String): String =
    Json.write(CheckpointArguments.run(SparkSession.active, command, folder, arguments))
}
