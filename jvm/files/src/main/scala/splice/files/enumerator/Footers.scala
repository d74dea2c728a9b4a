// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.enumerator

import scala.util.Using
import scala.util.control.NonFatal

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.orc.OrcFile
import org.apache.parquet.hadoop.ParquetFileReader
import org.apache.parquet.hadoop.util.HadoopInputFile
import org.apache.spark.paths.SparkPath
import org.apache.spark.util.SerializableConfiguration

import splice.files.PathUsers
import splice.files.options.{FileKind, FileSettings}
import splice.files.split.ListedFile
import splice.source.Jobs

/** The rows that the footers of files state.
  *
  * @param failed
  *   the number of files whose footer cannot be read
  * @param example
  *   why one of them cannot be read
  */
final private[files] case class Footers(rows: Long, failed: Long, example: Option[String]) {
  private def and(other: Footers): Footers =
    Footers(rows + other.rows, failed + other.failed, example.orElse(other.example))
}

private[files] object Footers {

  private val Nothing = Footers(0L, 0L, None)

  private val FilesOfTask = 16

  /** Reads all footers in one job; None if files of this format have none. */
  def read(
      settings: FileSettings,
      configuration: Configuration,
      files: Seq[ListedFile],
      jobs: Jobs
  ): Option[Footers] = settings.kind match {
    case FileKind.Parquet | FileKind.Orc =>
      val task  = new Task(settings.kind, new SerializableConfiguration(configuration), settings.users)
      val found = jobs.run(files.map(_.path).grouped(FilesOfTask).toVector)(_ => Nil)(task)
      Some(found.foldLeft(Nothing)(_.and(_)))
    case FileKind.Json | FileKind.Csv | FileKind.Text => None
  }

  final private class Task(kind: FileKind, shipped: SerializableConfiguration, users: PathUsers)
      extends (Seq[String] => Footers)
      with Serializable {

    override def apply(paths: Seq[String]): Footers = paths.iterator.map { path =>
      try Footers(users.guarded(rows(SparkPath.fromUrlString(users.restore(path)).toPath)), 0L, None)
      catch { case NonFatal(e) => Footers(0L, 1L, Some(s"$path: ${e.getMessage}")) }
    }.foldLeft(Nothing)(_.and(_))

    private def rows(path: Path): Long = kind match {
      case FileKind.Orc =>
        Using.resource(OrcFile.createReader(path, OrcFile.readerOptions(shipped.value)))(_.getNumberOfRows)
      case _ => Using.resource(ParquetFileReader.open(HadoopInputFile.fromPath(path, shipped.value)))(_.getRecordCount)
    }
  }
}
