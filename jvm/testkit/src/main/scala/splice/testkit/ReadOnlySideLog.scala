// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.testkit

import org.apache.hadoop.fs.Path

import splice.source.runtime.SideLog

/** Side log that rejects writes, so that a test can prove that a call only reads. */
final class ReadOnlySideLog(log: SideLog) extends SideLog {

  override def get(key: String): Option[Seq[String]] = log.get(key)

  override def getOrCreate(key: String)(decide: => Seq[String]): Seq[String] =
    get(key).getOrElse(throw new IllegalStateException(s"a write of the side-log entry $key"))

  override def keys(prefix: String): Seq[String] = log.keys(prefix)

  override def remove(key: String): Unit = throw new IllegalStateException(s"a removal of the side-log entry $key")

  override def scope(name: String): SideLog = new ReadOnlySideLog(log.scope(name))

  override def folder(name: String): Path = log.folder(name)
}
