// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.listing

import java.io.FileNotFoundException

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileStatus, FileSystem, Path}
import org.apache.spark.paths.SparkPath

import splice.files.internal.access.{NoFileSystem, PathUsers}
import splice.files.internal.errors.FileErrors

/** Resolution of configured paths to paths of a file system. */
private[files] object RootPaths {

  private val GlobLetters = "{}[]*?\\".toSet

  /** Returns the paths with scheme and authority, without user and password, in sorted order. Does not access files. */
  def qualified(paths: Seq[String], configuration: Configuration): Seq[String] =
    paths.map(p => PathUsers.without(qualify(new Path(p), configuration).toUri.toString)).distinct.sorted

  /** Resolves patterns and returns the existing folders and files of each path. Wildcards match no hidden files and
    * folders.
    *
    * @throws splice.source.errors.SpliceException
    *   if one of `paths` does not exist
    */
  def existing(paths: Seq[String], configuration: Configuration): Seq[Seq[FileStatus]] =
    paths.map(resolve(_, configuration))

  /** Omits paths within another path.
    *
    * @param recursive
    *   true if a folder includes the files of all subfolders; else it includes only subfolders named `column=value`
    */
  def outermost(existing: Seq[FileStatus], recursive: Boolean): Seq[FileStatus] = {
    val roots   = existing.distinctBy(_.getPath)
    val folders = roots.filter(_.isDirectory).map(_.getPath).toSet
    // Spark would read the files of a contained path twice, or derive other columns from its folders.
    roots.filterNot(isContained(_, folders, recursive))
  }

  /** The folder itself, or the folder of a file. */
  def folder(of: FileStatus): Path = if (of.isDirectory) of.getPath else of.getPath.getParent

  /** The path and all folders above it, upwards. */
  def upwards(path: Path): Iterator[Path] = Iterator.iterate(path)(_.getParent).takeWhile(Option(_).isDefined)

  /** URI of a path without user and password. */
  def text(path: Path): String = PathUsers.without(SparkPath.fromPath(path).urlEncoded)

  private def isContained(root: FileStatus, folders: Set[Path], recursive: Boolean): Boolean = {
    def within(folder: Path): Boolean       = folders(folder) || partOfParent(folder)
    def partOfParent(folder: Path): Boolean = (recursive || FolderOwners.isPartition(folder)) &&
      !HiddenPaths.isHidden(folder) && Option(folder.getParent).exists(within)
    if (root.isDirectory) partOfParent(root.getPath)
    else !HiddenPaths.isHidden(root.getPath) && within(root.getPath.getParent)
  }

  private def resolve(text: String, configuration: Configuration): Seq[FileStatus] = {
    val path     = qualify(new Path(text), configuration)
    val fs       = system(path, configuration)
    val statuses =
      if (path.toString.exists(GlobLetters))
        HiddenPaths.omit(Option(fs.globStatus(path)).toSeq.flatten, path)
      else status(fs, path).toSeq
    if (statuses.isEmpty) throw FileErrors.pathNotFound(path.toString)
    statuses.foreach(s => s.setPath(fs.makeQualified(s.getPath)))
    statuses
  }

  private def status(fs: FileSystem, path: Path): Option[FileStatus] =
    try Some(fs.getFileStatus(path))
    catch { case _: FileNotFoundException => None }

  def qualify(path: Path, configuration: Configuration): Path =
    system(path, configuration).makeQualified(path)

  private def system(path: Path, configuration: Configuration): FileSystem =
    try path.getFileSystem(configuration)
    catch { case NoFileSystem(e) => throw FileErrors.noFileSystem(path.toString, e) }
}
