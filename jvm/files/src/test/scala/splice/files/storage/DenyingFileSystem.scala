// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.storage

import java.net.URI

import org.apache.hadoop.fs.{FileStatus, Path, RawLocalFileSystem}
import org.apache.hadoop.security.AccessControlException

/** Local file system as `denying:///`. Denies access to the content of folders with the prefix `locked`, except
  * subfolders named `open` and their content.
  */
final class DenyingFileSystem extends RawLocalFileSystem {

  override def getUri: URI = URI.create("denying:///")

  override def getScheme: String = "denying"

  override def listStatus(path: Path): Array[FileStatus] = super.listStatus(allowed(path)).map(qualified)

  override def getFileStatus(path: Path): FileStatus = qualified(super.getFileStatus(allowed(path)))

  private def allowed(path: Path): Path = {
    val names = Iterator.iterate(path)(_.getParent).takeWhile(Option(_).isDefined).map(_.getName)
    if (names.takeWhile(_ != "open").drop(1).exists(_.startsWith("locked")))
      throw new AccessControlException(s"no permission for $path")
    path
  }

  private def qualified(status: FileStatus): FileStatus = {
    status.setPath(makeQualified(new Path(status.getPath.toUri.getPath)))
    status
  }
}
