// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.listing

import java.io.FileNotFoundException
import java.util.concurrent.{Callable, ExecutionException, Executors}

import scala.annotation.nowarn
import scala.collection.mutable
import scala.jdk.CollectionConverters._
import scala.util.{Failure, Success, Try}

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileSystem, Path}
import org.apache.spark.sql.SparkSession

import splice.files.internal.access.AccessDenied
import splice.files.internal.errors.FileErrors
import splice.files.internal.session.FileFormats
import splice.files.internal.settings.FileSettings
import splice.source.internal.DaemonThread

/** Detects table formats and Spark sinks. The logs of formats and sinks define the valid files of a folder.
  *
  * @param basePath
  *   last folder of the upward search; None = search up to the root of the file system
  * @param ignoreSinks
  *   true if the session ignores the logs of sinks
  * @param optionName
  *   name of an option in errors, with the prefix of the leg
  */
final private[files] class FolderOwners(
    configuration: Configuration,
    basePath: Option[Path],
    ignoreSinks: Boolean,
    optionName: String => String
) {

  private val sinks  = mutable.Map.empty[Path, SinkFolder]
  private val logs   = mutable.Map.empty[Path, Boolean]
  private val tables = mutable.Map.empty[Path, Option[(String, Path)]]

  // Hadoop creates an instance at each call if its cache is disabled.
  private val systems = mutable.Map.empty[(String, String), FileSystem]

  /** False if the session ignores the logs of sinks. */
  def readsSinks: Boolean = !ignoreSinks

  /** @throws splice.source.errors.SpliceException
    *   if `folder` is in a table of a format that Spark's file readers do not support
    */
  def rejectTable(folder: Path): Unit = table(folder, folder).foreach { case (format, root) =>
    throw FileErrors.tableFormat(folder.toString, format, root.toString, optionName)
  }

  /** @throws splice.source.errors.SpliceException if this subfolder of a folder is the log of a table format */
  def rejectLog(folder: Path, name: String): Unit = FolderOwners.Logs.get(name).foreach { format =>
    throw FileErrors.tableFormat(folder.toString, format, folder.toString, optionName)
  }

  /** Sink that wrote the files of `folder`. The log of a partition folder is in a parent folder. */
  def sink(folder: Path): Option[SinkFolder] =
    sinkFolder(folder).flatMap { root =>
      ifAllowed(root, folder)(Some(sinks.getOrElseUpdate(root, SinkLog.read(system(root), root))))
    }

  /** Folder of the sink that wrote the files of `folder`. */
  def sinkFolder(folder: Path): Option[Path] = if (ignoreSinks) None else sinkFolder(folder, folder)

  /** Reads the log of a sink, unless its last batch is `last`. */
  def sinkAfter(root: Path, last: Option[Long]): Option[SinkFolder] = SinkLog.readAfter(system(root), root, last)

  /** Sinks whose logs are in `folders`, by folder, or the errors of their logs. The query may read no file of such a
    * folder. Requests run in parallel, because a path may have thousands of folders.
    */
  def sinksAt(folders: Seq[Path]): Map[Path, Try[SinkFolder]] =
    if (ignoreSinks) Map.empty
    else {
      // A thread of the pool may have another user than the caller.
      val onSystems = folders.map(folder => folder -> system(folder))
      val found     = FolderOwners.inParallel(onSystems) { case (folder, fs) => Try(FolderOwners.hasLog(fs, folder)) }
      onSystems.zip(found).collect {
        case ((folder, fs), Success(true)) => folder -> Try(SinkLog.read(fs, folder))
        case ((folder, _), Failure(e))     => folder -> Failure(e)
      }.toMap
    }

  private def sinkFolder(folder: Path, configured: Path): Option[Path] = {
    def hasLog = logs.getOrElseUpdate(folder, FolderOwners.hasLog(system(folder), folder))
    ifAllowed(folder, configured)(Option.when(hasLog)(folder)).orElse {
      if (FolderOwners.isPartition(folder)) above(folder).flatMap(sinkFolder(_, configured)) else None
    }
  }

  private def table(folder: Path, configured: Path): Option[(String, Path)] = tables.getOrElseUpdate(
    folder,
    ifAllowed(folder, configured)(FolderOwners.format(system(folder), folder).map(_ -> folder))
      .orElse(above(folder).flatMap(table(_, configured)))
  )

  /** Forgets the found tables and logs if a long run has found many more than its folders need. */
  def forget(folders: Int): Unit =
    if (logs.size + tables.size > FolderOwners.Most + 4L * folders) Seq(sinks, logs, tables).foreach(_.clear())

  def system(folder: Path): FileSystem = {
    val uri = folder.toUri
    systems.getOrElseUpdate((uri.getScheme, uri.getAuthority), folder.getFileSystem(configuration))
  }

  private def above(folder: Path): Option[Path] = Option(folder.getParent).filterNot(_ => basePath.contains(folder))

  // A user may have access to a folder but not to its parents.
  private def ifAllowed[A](folder: Path, configured: Path)(search: => Option[A]): Option[A] =
    try search
    catch { case AccessDenied(_) if folder != configured => None }
}

private[files] object FolderOwners {

  private val Threads = 32

  private val Most = 100000

  // Folders of the logs of table formats.
  private val Logs = Map("_delta_log" -> "Delta Lake", ".hoodie" -> "Apache Hudi")

  def apply(settings: FileSettings, configuration: Configuration, spark: SparkSession): FolderOwners =
    new FolderOwners(
      configuration,
      settings.basePath.map(text => RootPaths.qualify(new Path(text), configuration)),
      FileFormats.conf(spark).fileStreamSinkMetadataIgnored,
      settings.name
    )

  def hasLog(fs: FileSystem, folder: Path): Boolean = isFolder(fs, new Path(folder, SinkLog.Folder))

  // On S3A, `isDirectory` has one request, but `exists` and `getFileStatus` also search for a file.
  @nowarn("cat=deprecation")
  private def isFolder(fs: FileSystem, path: Path): Boolean = fs.isDirectory(path)

  def inParallel[A, B](items: Seq[A], threads: Int = Threads)(request: A => B): Seq[B] = {
    val requests = items.map[Callable[B]](item => () => request(item))
    val pool     = Executors.newFixedThreadPool(threads, DaemonThread.named("splice-folder-search"))
    try pool.invokeAll(requests.asJava).asScala.toSeq.map(_.get())
    catch { case e: ExecutionException => throw e.getCause }
    finally { val _ = pool.shutdownNow() }
  }

  def isPartition(folder: Path): Boolean = isPartition(folder.getName)

  def isPartition(name: String): Boolean = name.indexOf('=') > 0

  def format(fs: FileSystem, folder: Path): Option[String] =
    Logs.collectFirst { case (name, format) if isFolder(fs, new Path(folder, name)) => format }.orElse(
      Option.when(names(fs, new Path(folder, "metadata")).exists(_.contains(".metadata.json")))("Apache Iceberg")
    )

  private def names(fs: FileSystem, folder: Path): Seq[String] =
    try fs.listStatus(folder).toSeq.map(_.getPath.getName)
    catch { case _: FileNotFoundException => Nil }
}
