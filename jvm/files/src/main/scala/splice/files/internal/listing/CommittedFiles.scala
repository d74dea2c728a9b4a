// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.listing

import scala.collection.mutable
import scala.util.{Success, Try}

import org.apache.hadoop.fs.{FileStatus, Path}
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.execution.datasources.{InMemoryFileIndex, PartitionDirectory}
import org.apache.spark.sql.types.StructType

/** Files under some roots. For the output folder of a Spark sink, only files of committed batches.
  *
  * @param roots
  *   status of folders and files, from the file system
  * @param times
  *   bounds of the modification times of the files
  */
final private[files] class CommittedFiles private (
    spark: SparkSession,
    roots: Seq[FileStatus],
    options: Map[String, String],
    times: ModificationTimes,
    columns: Option[StructType],
    search: FolderOwners
) extends InMemoryFileIndex(spark, roots.map(_.getPath), options, columns) {

  private lazy val sinks = new SinkSearch(super.leafFiles.keys)

  // The status from the file system has the hosts of a file, but the status from the log has no hosts.
  private lazy val committed: mutable.LinkedHashMap[Path, FileStatus] = {
    val listed = super.leafFiles
    if (recursiveFileLookup) listed.keysIterator.map(_.getParent).toSet.foreach(search.rejectTable(_))
    // The files of an unreadable log stay in the list, because the index decides whether the query reads them.
    val kept = listed.filter { case (path, _) =>
      sinks.of(path).flatMap(_.toOption).forall(_.committed.contains(path.toUri.getPath))
    }
    // A deleted committed file stays in the list, so its task reports a missing file.
    val missing =
      sinks.all.flatMap(_.committed.values).filter(f => !listed.contains(f.getPath) && isUnderRoot(f.getPath))
    kept ++= missing.map(f => f.getPath -> f)
  }

  private lazy val byFolder = committed.values.toArray.groupBy(_.getPath.getParent)

  /** Files with data below the roots that pass the filters. Spark's index may not select all of them. */
  def data: Seq[Path] =
    leafFiles.values.filter(f => f.getLen > 0 && !HiddenPaths.isHidden(f.getPath) && matchPathPattern(f))
      .map(_.getPath).toSeq

  /** Sinks that have written the files. */
  def owners: Seq[SinkFolder] = {
    val _ = leafFiles
    sinks.all
  }

  /** @throws splice.source.errors.SpliceException
    *   if the log that defines a selected file is corrupt, or belongs to another folder
    */
  override def listFiles(partitionFilters: Seq[Expression], dataFilters: Seq[Expression]): Seq[PartitionDirectory] = {
    val selected = super.listFiles(partitionFilters, dataFilters)
    selected.iterator.flatMap(_.files).flatMap(file => sinks.of(file.getPath)).foreach(_.get)
    selected
  }

  override protected def leafFiles: mutable.LinkedHashMap[Path, FileStatus] = committed

  override protected def leafDirToChildrenFiles: Map[Path, Array[FileStatus]] = byFolder

  override protected def matchPathPattern(file: FileStatus): Boolean =
    times.contain(file) && super.matchPathPattern(file)

  private lazy val rootSet = rootPaths.toSet

  private def isUnderRoot(file: Path): Boolean = RootPaths.upwards(file).exists(rootSet)

  /** Search for the sinks that own files, with at most one request per folder. */
  final private class SinkSearch(files: Iterable[Path]) {

    private val folders = mutable.Map.empty[Path, Option[Try[SinkFolder]]]

    // A root without files may be a sink folder whose files are all missing.
    private val ofRoots =
      roots.map(root => root.getPath -> search.sink(RootPaths.folder(root)).map(Success(_))).toMap

    private val sinksBelow =
      search.sinksAt(files.filterNot(ofRoots.contains).map(_.getParent).toSet.flatMap(foldersBelow).toSeq)

    def of(file: Path): Option[Try[SinkFolder]] = ofRoots.getOrElse(file, ofFolder(file.getParent))

    def all: Seq[SinkFolder] = {
      val readable = (ofRoots.values.flatten ++ sinksBelow.values).flatMap(_.toOption)
      readable.toSeq.distinctBy(_.path)
    }

    private def ofFolder(folder: Path): Option[Try[SinkFolder]] = ofRoots.getOrElse(
      folder,
      folders.getOrElseUpdate(folder, sinksBelow.get(folder).orElse(ofFolder(folder.getParent)))
    )

    // The log of a root contains the committed files of all its partition folders.
    private def foldersBelow(folder: Path): Seq[Path] = {
      val (below, from) = Iterator.iterate(folder)(_.getParent).span(!ofRoots.contains(_))
      val all           = below.toSeq
      if (recursiveFileLookup || ofRoots(from.next()).isEmpty) all else Nil
    }
  }
}

private[files] object CommittedFiles {

  /** @throws splice.source.errors.SpliceException if a root is in a table, or the log of a sink is corrupt */
  def apply(
      spark: SparkSession,
      roots: Seq[FileStatus],
      options: Map[String, String],
      times: ModificationTimes,
      columns: Option[StructType],
      owners: FolderOwners
  ): CommittedFiles = {
    roots.foreach(root => owners.rejectTable(RootPaths.folder(root)))
    // Spark treats a root without files as a folder.
    val kept = roots.filter { root =>
      root.isDirectory || owners.sink(RootPaths.folder(root)).forall(_.committed.contains(root.getPath.toUri.getPath))
    }
    new CommittedFiles(spark, kept, options, times, columns, owners)
  }
}
