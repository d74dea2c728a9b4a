// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.coordinator.internal.sidelog

import scala.collection.concurrent.TrieMap

import splice.source.runtime.SideLog

/** A side log in memory, for example for one bounded read, which has no checkpoint to restart from. */
final private[splice] class MemorySideLog private (entries: TrieMap[String, Seq[String]], prefix: String)
    extends SideLog {

  def this() = this(TrieMap.empty, "")

  override def get(key: String): Option[Seq[String]] = entries.get(prefix + key)

  override def getOrCreate(key: String)(decide: => Seq[String]): Seq[String] =
    get(key).getOrElse {
      val decided = decide
      entries.putIfAbsent(prefix + key, decided).getOrElse(decided)
    }

  override def keys(start: String): Seq[String] =
    entries.keys.filter(_.startsWith(prefix + start)).map(_.stripPrefix(prefix)).filterNot(_.contains('/')).toSeq.sorted

  override def remove(key: String): Unit = { val _ = entries.remove(prefix + key) }

  override def scope(name: String): SideLog = new MemorySideLog(entries, s"$prefix$name/")
}
