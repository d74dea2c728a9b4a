// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.access

import java.io.IOException
import java.nio.file.AccessDeniedException

import org.apache.hadoop.security.AccessControlException

/** Extractor of access errors of a file system. A file with denied access is neither missing nor corrupt. */
private[files] object AccessDenied {

  def unapply(e: Throwable): Option[IOException] = e match {
    case denied: AccessControlException => Some(denied)
    case denied: AccessDeniedException  => Some(denied)
    case _                              => None
  }
}
