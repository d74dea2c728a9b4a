// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.listing

import scala.collection.mutable

import org.apache.hadoop.fs.{FileStatus, Path}
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.execution.datasources.InMemoryFileIndex
import org.apache.spark.sql.types.StructType

/** The files under some roots. Of a folder that a sink of Spark wrote, only the files of committed batches.
  *
  * @param roots
  *   folders and files, as the file system names them
  */
final private[files] class CommittedFiles private (
    spark: SparkSession,
    roots: Seq[FileStatus],
    options: Map[String, String],
    columns: Option[StructType],
    owners: FolderOwners
) extends InMemoryFileIndex(spark, roots.map(_.getPath), options, columns) {

  // A map, because the file system's own status has the hosts of a file, and the log's has not.
  private lazy val committed: mutable.LinkedHashMap[Path, FileStatus] = {
    val found = super.leafFiles
    if (recursiveFileLookup) found.keysIterator.map(_.getParent).toSet.foreach(owners.refuseTable(_))
    val sinks = new SinkSearch
    val kept  = found.filter { case (path, _) => sinks.of(path).forall(_.committed.contains(path.toUri.getPath)) }
    // A committed file that was deleted is a missing file for its task, and not a file that never existed.
    val missing =
      sinks.all.flatMap(_.committed.values).filter(f => !found.contains(f.getPath) && isUnderRoot(f.getPath))
    kept ++= missing.map(f => f.getPath -> f)
  }

  private lazy val byFolder = committed.values.toArray.groupBy(_.getPath.getParent)

  override protected def leafFiles: mutable.LinkedHashMap[Path, FileStatus] = committed

  override protected def leafDirToChildrenFiles: Map[Path, Array[FileStatus]] = byFolder

  private lazy val rootSet = rootPaths.toSet

  private def isUnderRoot(file: Path): Boolean =
    Iterator.iterate(file)(_.getParent).takeWhile(Option(_).isDefined).exists(rootSet)

  /** The sinks above files, one search per folder. */
  final private class SinkSearch {

    private val folders = mutable.Map.empty[Path, Option[SinkFolder]]

    // A root without a file may be a folder of which all files are missing.
    private val ofRoots = roots.map(root => root.getPath -> owners.sink(CommittedFiles.folder(root))).toMap

    def of(file: Path): Option[SinkFolder] = ofRoots.getOrElse(file, ofFolder(file.getParent))

    def all: Seq[SinkFolder] = (ofRoots.values ++ folders.values).flatten.toSeq.distinctBy(_.path)

    private def ofFolder(folder: Path): Option[SinkFolder] = ofRoots.getOrElse(
      folder,
      folders.getOrElseUpdate(
        folder,
        Option.when(recursiveFileLookup)(folder).flatMap(owners.sinkAt).orElse(ofFolder(folder.getParent))
      )
    )
  }
}

private[files] object CommittedFiles {

  /** @throws splice.source.errors.SpliceException when a root is in a table, or the log of a sink is damaged */
  def apply(
      spark: SparkSession,
      roots: Seq[FileStatus],
      options: Map[String, String],
      columns: Option[StructType],
      owners: FolderOwners
  ): CommittedFiles = {
    roots.foreach(root => owners.refuseTable(folder(root)))
    // Spark takes a root without files for a folder.
    val kept = roots.filter { root =>
      root.isDirectory || owners.sink(folder(root)).forall(_.committed.contains(root.getPath.toUri.getPath))
    }
    new CommittedFiles(spark, kept, options, columns, owners)
  }

  private def folder(root: FileStatus): Path = if (root.isDirectory) root.getPath else root.getPath.getParent
}
