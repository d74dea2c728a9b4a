// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.coordinator.internal.sidelog

import java.io.{FileNotFoundException, IOException}
import java.nio.charset.StandardCharsets.UTF_8
import java.util.concurrent.ConcurrentSkipListSet

import scala.jdk.CollectionConverters._
import scala.util.Using

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path

import splice.source.errors.CheckpointErrors
import splice.source.internal.entries.CheckpointStore
import splice.source.runtime.SideLog

/** A side log in a folder of the checkpoint, on any file system that Hadoop supports. Any thread may use the instance.
  *
  * The folder is listed once, at the first access. An entry is a file that [[AtomicFile]] creates as a whole or not at
  * all.
  *
  * @param folder
  *   `sources/<n>/splice` of the checkpoint, or a folder below it
  * @param store
  *   the storage that the folder may be on
  */
final private[splice] class HadoopSideLog private[splice] (
    folder: Path,
    configuration: Configuration,
    store: CheckpointStore
) extends SideLog {

  def this(folder: Path, configuration: Configuration) = this(folder, configuration, CheckpointStore.Atomic)

  private lazy val fs = folder.getFileSystem(configuration)

  private lazy val known: ConcurrentSkipListSet[String] = {
    val listed =
      try fs.listStatus(folder).toSeq.filter(_.isFile).map(_.getPath.getName).filterNot(AtomicFile.isHidden)
      catch { case _: FileNotFoundException => Nil }
    new ConcurrentSkipListSet(listed.asJava)
  }

  override def get(key: String): Option[Seq[String]] =
    if (known.contains(key)) Some(read(key)) else None

  override def getOrCreate(key: String)(decide: => Seq[String]): Seq[String] = get(key).getOrElse {
    val decided = decide
    val content = SideLogFormat.write(decided).getBytes(UTF_8)
    val created = AtomicFile.create(fs, new Path(folder, key), configuration, content, store)
    known.add(key)
    if (created) decided else read(key)
  }

  override def keys(prefix: String): Seq[String] =
    known.tailSet(prefix).iterator.asScala.takeWhile(_.startsWith(prefix)).toList

  override def remove(key: String): Unit = {
    fs.delete(new Path(folder, key), false)
    val _ = known.remove(key)
  }

  override def scope(name: String): SideLog = new HadoopSideLog(new Path(folder, name), configuration, store)

  override def folder(name: String): Path = new Path(folder, name)

  private def read(key: String): Seq[String] = {
    val file  = new Path(folder, key)
    val bytes =
      try Using.resource(fs.open(file))(_.readAllBytes())
      catch {
        case _: FileNotFoundException => throw CheckpointErrors.missingEntry(file.toString)
        case e: IOException if e.getClass.getSimpleName == "ChecksumException" =>
          throw CheckpointErrors.corrupt(file.toString, e.getMessage)
      }
    SideLogFormat.read(file.toString, new String(bytes, UTF_8))
  }
}
