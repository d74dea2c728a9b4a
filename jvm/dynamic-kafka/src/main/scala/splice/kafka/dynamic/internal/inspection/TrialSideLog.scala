// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.inspection

import scala.collection.concurrent.TrieMap

import org.apache.hadoop.fs.Path

import splice.source.runtime.SideLog

/** View of a side log that keeps new entries and removals in memory. The view never changes the side log. Any thread may
  * use the view.
  */
final private[dynamic] class TrialSideLog(log: SideLog) extends SideLog {

  private val created = TrieMap.empty[String, Seq[String]]
  private val removed = TrieMap.empty[String, Unit]
  private val scopes  = TrieMap.empty[String, TrialSideLog]

  override def get(key: String): Option[Seq[String]] =
    created.get(key).orElse(if (removed.contains(key)) None else log.get(key))

  override def getOrCreate(key: String)(decide: => Seq[String]): Seq[String] = get(key).getOrElse {
    val decided = decide
    created.putIfAbsent(key, decided).getOrElse(decided)
  }

  override def keys(prefix: String): Seq[String] =
    (log.keys(prefix).filterNot(removed.contains) ++ created.keys.filter(_.startsWith(prefix))).distinct.sorted

  override def remove(key: String): Unit = {
    removed.update(key, ())
    val _ = created.remove(key)
  }

  override def scope(name: String): SideLog = scopes.getOrElseUpdate(name, new TrialSideLog(log.scope(name)))

  override def folder(name: String): Path = log.folder(name)
}
