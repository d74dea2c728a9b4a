// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.testkit.internal.kill

import java.net.URI

import org.apache.hadoop.fs.permission.FsPermission
import org.apache.hadoop.fs.{FSDataOutputStream, Path, RawLocalFileSystem}
import org.apache.hadoop.util.Progressable

/** Local file system with the scheme `kill`. Reports each durable step to the [[KillSwitch]].
  *
  * A step is the creation of a file or the rename of a file to its final name. Spark's logs and the side log have such
  * steps.
  */
final private[splice] class KillingFileSystem extends RawLocalFileSystem {

  override def getScheme: String = KillingFileSystem.Scheme

  override def getUri: URI = KillingFileSystem.Root

  override def rename(from: Path, to: Path): Boolean =
    KillSwitch.around("rename", to.toUri.getPath)(super.rename(from, to))

  override def create(
      file: Path,
      overwrite: Boolean,
      bufferSize: Int,
      replication: Short,
      blockSize: Long,
      progress: Progressable
  ): FSDataOutputStream =
    KillSwitch.around("create", file.toUri.getPath)(
      super.create(file, overwrite, bufferSize, replication, blockSize, progress)
    )

  override def create(
      file: Path,
      permission: FsPermission,
      overwrite: Boolean,
      bufferSize: Int,
      replication: Short,
      blockSize: Long,
      progress: Progressable
  ): FSDataOutputStream =
    KillSwitch.around("create", file.toUri.getPath)(
      super.create(file, permission, overwrite, bufferSize, replication, blockSize, progress)
    )
}

private[splice] object KillingFileSystem {
  val Scheme    = "kill"
  val Root: URI = URI.create(s"$Scheme:///")
}
