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

import splice.files.internal.access.AccessDenied
import splice.files.internal.errors.FileErrors
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

  private val sinks  = mutable.Map.empty[Path, Option[SinkFolder]]
  private val tables = mutable.Map.empty[Path, Option[(String, Path)]]

  // Hadoop creates an instance at each call if its cache is disabled.
  private val systems = mutable.Map.empty[(String, String), FileSystem]

  /** @throws splice.source.errors.SpliceException
    *   if `folder` is in a table of a format that Spark's file readers do not support
    */
  def rejectTable(folder: Path): Unit = table(folder, folder).foreach { case (format, root) =>
    throw FileErrors.tableFormat(folder.toString, format, root.toString, optionName)
  }

  /** Sink that wrote the files of `folder`. The log of a partition folder is in a parent folder. */
  def sink(folder: Path): Option[SinkFolder] = sink(folder, folder)

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

  private def sinkAt(folder: Path): Option[SinkFolder] = sinks.getOrElseUpdate(
    folder, {
      val fs = system(folder)
      Option.when(!ignoreSinks && FolderOwners.hasLog(fs, folder))(SinkLog.read(fs, folder))
    }
  )

  private def sink(folder: Path, configured: Path): Option[SinkFolder] =
    ifAllowed(folder, configured)(sinkAt(folder)).orElse {
      if (FolderOwners.isPartition(folder)) above(folder).flatMap(sink(_, configured)) else None
    }

  private def table(folder: Path, configured: Path): Option[(String, Path)] = tables.getOrElseUpdate(
    folder,
    ifAllowed(folder, configured)(FolderOwners.format(system(folder), folder).map(_ -> folder))
      .orElse(above(folder).flatMap(table(_, configured)))
  )

  private def system(folder: Path): FileSystem = {
    val uri = folder.toUri
    systems.getOrElseUpdate((uri.getScheme, uri.getAuthority), folder.getFileSystem(configuration))
  }

  private def above(folder: Path): Option[Path] = Option(folder.getParent).filterNot(_ => basePath.contains(folder))

  // A user may have access to a folder but not to its parents.
  private def ifAllowed[A](folder: Path, configured: Path)(search: => Option[A]): Option[A] =
    try search
    catch { case AccessDenied(_) if folder != configured => None }
}

private object FolderOwners {

  private val Threads = 32

  def hasLog(fs: FileSystem, folder: Path): Boolean = isFolder(fs, new Path(folder, SinkLog.Folder))

  // On S3A, `isDirectory` has one request, but `exists` and `getFileStatus` also search for a file.
  @nowarn("cat=deprecation")
  private def isFolder(fs: FileSystem, path: Path): Boolean = fs.isDirectory(path)

  def inParallel[A, B](items: Seq[A])(request: A => B): Seq[B] = {
    val requests = items.map[Callable[B]](item => () => request(item))
    val pool     = Executors.newFixedThreadPool(Threads, DaemonThread.named("splice-folder-search"))
    try pool.invokeAll(requests.asJava).asScala.toSeq.map(_.get())
    catch { case e: ExecutionException => throw e.getCause }
    finally { val _ = pool.shutdownNow() }
  }

  def isPartition(folder: Path): Boolean = folder.getName.indexOf('=') > 0

  def format(fs: FileSystem, folder: Path): Option[String] =
    if (isFolder(fs, new Path(folder, "_delta_log"))) Some("Delta Lake")
    else if (isFolder(fs, new Path(folder, ".hoodie"))) Some("Apache Hudi")
    else Option.when(names(fs, new Path(folder, "metadata")).exists(_.contains(".metadata.json")))("Apache Iceberg")

  private def names(fs: FileSystem, folder: Path): Seq[String] =
    try fs.listStatus(folder).toSeq.map(_.getPath.getName)
    catch { case _: FileNotFoundException => Nil }
}
