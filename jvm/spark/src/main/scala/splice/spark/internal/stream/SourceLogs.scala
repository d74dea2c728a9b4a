// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark.internal.stream

import java.io.FileNotFoundException

import com.fasterxml.jackson.databind.JsonNode
import org.apache.hadoop.fs.Path
import org.apache.spark.sql.SparkSession

import splice.coordinator.internal.InitialEntry
import splice.coordinator.internal.sidelog.HadoopSideLog
import splice.source.errors.CheckpointErrors
import splice.source.internal.HadoopConfiguration
import splice.source.internal.entries.Json
import splice.spark.QueryHistory

/** Side log of a source, or of a leg of a hybrid source.
  *
  * @param source
  *   the number of the source in the query, followed by the name of the folder of the leg
  * @param folder
  *   the folder of the side log
  * @param start
  *   the stored start of the source; None for a leg
  * @param committed
  *   the offset after the last committed batch; None if no batch is committed, or if the leg has not begun
  */
final private[spark] case class SourceLogs(
    source: String,
    folder: Path,
    start: Option[String],
    committed: Option[String]
) {

  def json: JsonNode = Json.obj(
    Seq("source" -> Json.text(source), "folder" -> Json.text(folder.toString)) ++
      start.map("start" -> Json.text(_)) ++ committed.map("committed" -> Json.text(_)): _*
  )
}

private[spark] object SourceLogs {

  private val Leg = "leg-"

  /** Returns the side logs of a checkpoint. The method only reads, and the query may be running.
    *
    * @throws splice.source.errors.SpliceException
    *   if the checkpoint does not exist
    */
  def of(spark: SparkSession, checkpoint: String): Seq[SourceLogs] = {
    val sources       = new Path(checkpoint, "sources")
    val configuration = HadoopConfiguration(spark)
    val fs            = sources.getFileSystem(configuration)
    val all           =
      try QueryHistory.folders(fs, sources)
      catch { case _: FileNotFoundException => throw CheckpointErrors.notFound(checkpoint) }
    for {
      source <- all
      offset = new LoggedBatches(source, configuration).committed()
      folder <- QueryHistory.logs(fs, new Path(source, "splice"))
    } yield {
      val part = folder.toString.stripPrefix(s"$source/splice").stripPrefix("/")
      if (part.isEmpty)
        SourceLogs(
          source.getName,
          folder,
          InitialEntry.stored(new HadoopSideLog(folder, configuration)).map(_.position),
          offset
        )
      else SourceLogs(s"${source.getName}/$part", folder, None, offset.flatMap(ofLeg(part.stripPrefix(Leg), _)))
    }
  }

  private def ofLeg(leg: String, offset: String): Option[String] = for {
    node  <- Json.readObject(offset)
    legs  <- Json.field(node, "legs")
    found <- Json.field(legs, leg)
  } yield Json.write(found)
}
