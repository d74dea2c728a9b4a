// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.storage

import java.io.{File, FileNotFoundException}
import java.net.URI

import org.apache.hadoop.fs.{FileStatus, Path, RawLocalFileSystem}

/** File system `rooted://bucket/`. Its root is the local folder of the property `fs.rooted.folder`. */
final class RootedFileSystem extends RawLocalFileSystem {

  override def getUri: URI = URI.create("rooted://bucket")

  override def getScheme: String = "rooted"

  override def pathToFile(path: Path): File = new File(getConf.get("fs.rooted.folder"), path.toUri.getPath)

  override def listStatus(path: Path): Array[FileStatus] =
    Option(pathToFile(path).list())
      .getOrElse(throw new FileNotFoundException(path.toString))
      .map(name => getFileStatus(new Path(path, name)))

  override def getFileStatus(path: Path): FileStatus = {
    val status = super.getFileStatus(path)
    new FileStatus(
      status.getLen,
      status.isDirectory,
      1,
      status.getBlockSize,
      status.getModificationTime,
      makeQualified(path)
    )
  }
}
