// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.access

import java.io.IOException
import java.net.UnknownHostException
import java.nio.file.AccessDeniedException

import org.apache.hadoop.fs.UnsupportedFileSystemException
import org.apache.hadoop.security.AccessControlException

private[files] object Causes {

  // Causes may form a cycle.
  private val Depth = 20

  /** Returns an error and its causes, outermost first. */
  def of(e: Throwable): Iterator[Throwable] =
    Iterator.iterate(Option(e))(_.flatMap(error => Option(error.getCause))).takeWhile(_.isDefined).take(Depth).flatten
}

/** Extractor of access errors of a file system. A file with denied access is neither missing nor corrupt. */
private[files] object AccessDenied {

  def unapply(e: Throwable): Option[IOException] = e match {
    case denied: AccessControlException => Some(denied)
    case denied: AccessDeniedException  => Some(denied)
    case _                              => None
  }
}

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
