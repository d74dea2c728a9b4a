// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.coordinator.internal.sidelog

import java.nio.file.Files

import scala.collection.concurrent.TrieMap

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileSystem, Path}

import splice.source.runtime.SideLog

/** A side log in memory, for example for one bounded read, which has no checkpoint to restart from. */
final private[splice] class MemorySideLog private (
    entries: TrieMap[String, Seq[String]],
    prefix: String,
    temporary: TemporaryFolder
) extends SideLog {

  def this() = this(TrieMap.empty, "", new TemporaryFolder)

  override def get(key: String): Option[Seq[String]] = entries.get(prefix + key)

  override def getOrCreate(key: String)(decide: => Seq[String]): Seq[String] =
    get(key).getOrElse {
      val decided = decide
      entries.putIfAbsent(prefix + key, decided).getOrElse(decided)
    }

  override def keys(start: String): Seq[String] =
    entries.keys.filter(_.startsWith(prefix + start)).map(_.stripPrefix(prefix)).filterNot(_.contains('/')).toSeq.sorted

  override def remove(key: String): Unit = { val _ = entries.remove(prefix + key) }

  override def scope(name: String): SideLog = new MemorySideLog(entries, s"$prefix$name/", temporary)

  override def folder(name: String): Path = new Path(temporary.path, s"$prefix$name")
}

/** A folder on the local disk, which is created at its first use and deleted when the JVM ends. */
final private[splice] class TemporaryFolder {

  lazy val path: Path = {
    val created = new Path(Files.createTempDirectory("splice-").toUri)
    FileSystem.getLocal(new Configuration).deleteOnExit(created)
    created
  }
}
