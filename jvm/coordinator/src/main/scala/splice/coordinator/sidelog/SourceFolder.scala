// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.coordinator.sidelog

import java.io.FileNotFoundException

import scala.util.Using

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path

import splice.source.internal.entries.CheckpointStore

/** The folder `sources/<n>` of a checkpoint, which Spark's own sources write to as well. */
private[splice] trait SourceFolder {

  /** A file's place, as errors name it. */
  def name(file: String): String

  def read(file: String): Option[Array[Byte]]

  /** Writes a file whole, unless there is one. */
  def create(file: String, content: Array[Byte]): Unit
}

/** The folder on any file system that Hadoop reaches. */
final private[splice] class HadoopSourceFolder(
    folder: Path,
    configuration: Configuration,
    store: CheckpointStore = CheckpointStore.Atomic
) extends SourceFolder {

  private lazy val fs = folder.getFileSystem(configuration)

  override def name(file: String): String = new Path(folder, file).toString

  override def read(file: String): Option[Array[Byte]] =
    try Some(Using.resource(fs.open(new Path(folder, file)))(_.readAllBytes()))
    catch { case _: FileNotFoundException => None }

  override def create(file: String, content: Array[Byte]): Unit = {
    val _ = AtomicFile.create(fs, new Path(folder, file), configuration, content, store)
  }
}
