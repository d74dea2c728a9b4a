// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.coordinator.internal.sidelog

import java.io.FileNotFoundException

import scala.util.Using

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path

import splice.source.internal.entries.CheckpointStore

/** The folder `sources/<n>` of a checkpoint. Spark's own sources also write to this folder. */
private[splice] trait SourceFolder {

  /** Returns the path of a file, for error messages. */
  def name(file: String): String

  def read(file: String): Option[Array[Byte]]

  /** Writes a file as a whole, unless the file exists. */
  def create(file: String, content: Array[Byte]): Unit
}

/** The folder on any file system that Hadoop supports. */
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
