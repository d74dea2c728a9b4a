// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.coordinator.internal.sidelog

import org.apache.hadoop.fs.permission.FsPermission

/** Permissions of a file that Splice creates. */
sealed private[coordinator] trait FileAccess extends Product with Serializable

private[coordinator] object FileAccess {

  /** The permissions that the umask of the driver, or the storage, sets. */
  case object Default extends FileAccess

  /** Access for the owner of the file only: mode 600. */
  case object Owner extends FileAccess

  val OwnerPermission = new FsPermission("600")
}
