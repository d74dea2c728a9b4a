// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.testkit.internal.simulation

import org.apache.hadoop.fs.Path

import splice.source.runtime.SideLog

/** Side log that simulates a driver that stops before it writes certain entries. */
final private[splice] class StoppingSideLog(inner: SideLog, stopsBefore: String => Boolean) extends SideLog {
  override def get(key: String): Option[Seq[String]]                         = inner.get(key)
  override def getOrCreate(key: String)(decide: => Seq[String]): Seq[String] = get(key).getOrElse {
    if (stopsBefore(key)) throw new IllegalStateException(s"the driver stops before $key")
    inner.getOrCreate(key)(decide)
  }
  override def keys(prefix: String): Seq[String] = inner.keys(prefix)
  override def remove(key: String): Unit         = throw new IllegalStateException(s"the driver removes $key")
  override def scope(name: String): SideLog      = new StoppingSideLog(inner.scope(name), stopsBefore)
  override def folder(name: String): Path        = inner.folder(name)
}
