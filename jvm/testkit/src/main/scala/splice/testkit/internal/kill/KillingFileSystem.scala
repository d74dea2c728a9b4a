// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.testkit.internal.kill

import java.io.OutputStream
import java.net.URI

import org.apache.hadoop.fs.permission.FsPermission
import org.apache.hadoop.fs.{FSDataInputStream, FSDataOutputStream, Path, RawLocalFileSystem}
import org.apache.hadoop.util.Progressable

/** Local file system with the scheme `kill`. Reports each durable step to its [[KillRun]].
  *
  * A step is the creation of a file or the rename of a file to its final name. Spark's logs and the side log have such
  * steps. After the death of a run, no operation changes its files.
  */
final private[splice] class KillingFileSystem extends RawLocalFileSystem {

  override def getScheme: String = KillingFileSystem.Scheme

  override def getUri: URI = KillingFileSystem.Root

  override def rename(from: Path, to: Path): Boolean = around("rename", to)(super.rename(from, to))

  override def create(
      file: Path,
      overwrite: Boolean,
      bufferSize: Int,
      replication: Short,
      blockSize: Long,
      progress: Progressable
  ): FSDataOutputStream =
    around("create", file)(super.create(file, overwrite, bufferSize, replication, blockSize, progress))

  override def create(
      file: Path,
      permission: FsPermission,
      overwrite: Boolean,
      bufferSize: Int,
      replication: Short,
      blockSize: Long,
      progress: Progressable
  ): FSDataOutputStream =
    around("create", file)(super.create(file, permission, overwrite, bufferSize, replication, blockSize, progress))

  override protected def createOutputStreamWithMode(
      file: Path,
      append: Boolean,
      permission: FsPermission
  ): OutputStream = {
    val run = alive(file)
    new KillingOutput(super.createOutputStreamWithMode(file, append, permission), file.toString, run)
  }

  override def open(file: Path, bufferSize: Int): FSDataInputStream = {
    val _ = alive(file)
    super.open(file, bufferSize)
  }

  override def delete(file: Path, recursive: Boolean): Boolean = {
    val _ = alive(file)
    super.delete(file, recursive)
  }

  override def mkdirs(folder: Path): Boolean = {
    val _ = alive(folder)
    super.mkdirs(folder)
  }

  override def mkdirs(folder: Path, permission: FsPermission): Boolean = {
    val _ = alive(folder)
    super.mkdirs(folder, permission)
  }

  private def around[T](kind: String, file: Path)(happens: => T): T = {
    val name = file.toUri.getPath
    KillSwitch.of(name).around(kind, name)(happens)
  }

  private def alive(file: Path): KillRun = {
    val run = KillSwitch.of(file.toUri.getPath)
    run.requireLife(file.toString)
    run
  }
}

private[splice] object KillingFileSystem {
  val Scheme    = "kill"
  val Root: URI = URI.create(s"$Scheme:///")
}
