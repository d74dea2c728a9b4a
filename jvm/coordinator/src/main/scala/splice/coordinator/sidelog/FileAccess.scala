// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.coordinator.sidelog

import org.apache.hadoop.fs.permission.FsPermission

/** Who may read a file that Splice creates. */
sealed private[coordinator] trait FileAccess extends Product with Serializable

private[coordinator] object FileAccess {

  /** As the umask of the driver, or the storage, sets it. */
  case object Default extends FileAccess

  /** The owner of the file only: mode 600. */
  case object Owner extends FileAccess

  val OwnerPermission = new FsPermission("600")
}
