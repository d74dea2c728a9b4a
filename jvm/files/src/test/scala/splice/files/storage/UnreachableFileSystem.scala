// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.storage

import java.io.IOException
import java.net.URI
import java.util.concurrent.atomic.AtomicInteger

import org.apache.hadoop.fs.{FileStatus, Path, RawLocalFileSystem}

/** File system `unreachable:///` whose server does not respond. */
final class UnreachableFileSystem extends RawLocalFileSystem {

  override def getUri: URI = URI.create("unreachable:///")

  override def getScheme: String = "unreachable"

  override def getFileStatus(path: Path): FileStatus = {
    UnreachableFileSystem.requests.incrementAndGet()
    throw new IOException(s"no response for $path")
  }
}

object UnreachableFileSystem {

  /** Number of requests for a status. */
  val requests = new AtomicInteger
}
