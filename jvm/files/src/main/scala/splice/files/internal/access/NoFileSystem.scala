// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.access

import java.net.UnknownHostException

import org.apache.hadoop.fs.UnsupportedFileSystemException

/** Extractor of errors for a scheme without a file system, a missing class of a file system, and an unknown host. Hadoop
  * throws the last two as runtime exceptions.
  */
private[files] object NoFileSystem {

  def unapply(e: Throwable): Option[Exception] = e match {
    case unsupported: UnsupportedFileSystemException      => Some(unsupported)
    case wrapper: RuntimeException if isCausedBy(wrapper) => Some(wrapper)
    case _                                                => None
  }

  private def isCausedBy(e: Throwable): Boolean = Causes.of(e).exists {
    case _: ClassNotFoundException | _: UnknownHostException => true
    case _                                                   => false
  }
}
