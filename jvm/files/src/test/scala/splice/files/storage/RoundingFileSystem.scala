// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.storage

import java.net.URI
import java.nio.file.{Files, Paths}

import org.apache.hadoop.fs.{FileStatus, Path, RawLocalFileSystem}

/** Local file system as `rounding:///`. A listing has modification times in milliseconds, but a status has whole
  * seconds.
  */
final class RoundingFileSystem extends RawLocalFileSystem {

  override def getUri: URI = URI.create("rounding:///")

  override def getScheme: String = "rounding"

  override def listStatus(path: Path): Array[FileStatus] = super.listStatus(path).map(status(_)(identity))

  override def getFileStatus(path: Path): FileStatus = status(super.getFileStatus(path))(_ / 1000 * 1000)

  private def status(of: FileStatus)(time: Long => Long): FileStatus = {
    val local    = of.getPath.toUri.getPath
    val modified = time(Files.getLastModifiedTime(Paths.get(local)).toMillis)
    new FileStatus(of.getLen, of.isDirectory, 1, of.getBlockSize, modified, makeQualified(new Path(local)))
  }
}
