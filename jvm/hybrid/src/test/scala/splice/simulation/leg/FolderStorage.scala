// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.simulation.leg

import java.net.URI
import java.util.concurrent.atomic.AtomicLong

import scala.collection.concurrent.TrieMap

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs._
import org.apache.hadoop.fs.permission.FsPermission
import org.apache.hadoop.util.Progressable

import splice.testkit.internal.simulation.SimulatedFolder

/** Hadoop file system of simulated files. Files have only the length and modification time that readers check. */
final class SimulatedFileSystem extends FileSystem {

  private var uri = URI.create("sim:/")

  override def initialize(name: URI, configuration: Configuration): Unit = {
    super.initialize(name, configuration)
    uri = URI.create(s"${name.getScheme}://${name.getAuthority}")
  }

  override def getUri: URI = uri

  override def getFileStatus(path: Path): FileStatus = {
    val folder = SimulatedFileSystem.folders(path.toUri.getAuthority)
    val file = folder.get(path.toUri.getPath.drop(1)).getOrElse(throw new java.io.FileNotFoundException(path.toString))
    new FileStatus(file.length, false, 1, 1L, file.modified, path)
  }

  override def open(path: Path, buffer: Int): FSDataInputStream                     = refuse()
  override def append(path: Path, buffer: Int, p: Progressable): FSDataOutputStream = refuse()
  override def rename(from: Path, to: Path): Boolean                                = refuse()
  override def delete(path: Path, recursive: Boolean): Boolean                      = refuse()
  override def listStatus(path: Path): Array[FileStatus]                            = refuse()
  override def setWorkingDirectory(path: Path): Unit                                = refuse()
  override def getWorkingDirectory: Path                                            = new Path(uri)
  override def mkdirs(path: Path, permission: FsPermission): Boolean                = refuse()
  override def create(
      path: Path,
      permission: FsPermission,
      overwrite: Boolean,
      buffer: Int,
      replication: Short,
      block: Long,
      progress: Progressable
  ): FSDataOutputStream = refuse()

  private def refuse(): Nothing =
    throw new UnsupportedOperationException("a simulated file does not support this operation")
}

object SimulatedFileSystem {

  private val folders = TrieMap.empty[String, SimulatedFolder]
  private val last    = new AtomicLong

  val configuration: Configuration = {
    val created = new Configuration(false)
    created.set("fs.sim.impl", classOf[SimulatedFileSystem].getName)
    created.setBoolean("fs.sim.impl.disable.cache", true)
    created
  }

  /** Registers a folder. Returns the root of its files. */
  def mount(folder: SimulatedFolder): String = {
    val authority = s"f${last.incrementAndGet()}"
    folders += authority -> folder
    s"sim://$authority/"
  }

  def unmount(root: String): Unit = { val _ = folders -= URI.create(root).getAuthority }
}
