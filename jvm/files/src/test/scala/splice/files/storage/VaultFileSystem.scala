// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.storage

import java.io.IOException
import java.net.URI

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileStatus, Path, RawLocalFileSystem}

/** Local file system as `vault://anna:s3cr3t@my_host`. Access needs this user and password. */
final class VaultFileSystem extends RawLocalFileSystem {

  private var own = Option.empty[URI]

  override def initialize(uri: URI, configuration: Configuration): Unit = {
    super.initialize(uri, configuration)
    if (uri.getRawAuthority != VaultFileSystem.Authority) throw new IOException(s"$uri does not have the expected user")
    own = Some(new URI(s"vault://${uri.getRawAuthority}"))
  }

  // The constructor of the superclass calls this method before `own` is set.
  override def getUri: URI = Option(own).flatten.getOrElse(URI.create("vault:///"))

  override def getScheme: String = "vault"

  override def listStatus(path: Path): Array[FileStatus] = super.listStatus(path).map(qualified)

  override def getFileStatus(path: Path): FileStatus = qualified(super.getFileStatus(path))

  private def qualified(status: FileStatus): FileStatus = {
    status.setPath(makeQualified(new Path(status.getPath.toUri.getPath)))
    status
  }
}

object VaultFileSystem {
  val Secret    = "s3cr3t"
  val Authority = s"anna:$Secret@my_host"
}
