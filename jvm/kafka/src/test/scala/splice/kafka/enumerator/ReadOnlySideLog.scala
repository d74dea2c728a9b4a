// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.enumerator

import splice.source.SideLog

/** A side log of which entries are only read. */
final class ReadOnlySideLog(log: SideLog) extends SideLog {

  override def get(key: String): Option[Seq[String]] = log.get(key)

  override def getOrCreate(key: String)(decide: => Seq[String]): Seq[String] = refuse(key)

  override def keys(prefix: String): Seq[String] = log.keys(prefix)

  override def remove(key: String): Unit = refuse(key)

  override def scope(name: String): SideLog = new ReadOnlySideLog(log.scope(name))

  private def refuse(key: String): Nothing = throw new IllegalStateException(s"$key is written")
}
