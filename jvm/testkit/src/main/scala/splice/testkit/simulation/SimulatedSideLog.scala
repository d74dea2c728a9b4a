// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.testkit.simulation

import scala.collection.mutable

import splice.source.SideLog

/** A side log that outlives the driver; the driver may be killed before and after each entry. */
final class SimulatedSideLog private (life: Life, entries: mutable.TreeMap[String, Seq[String]], prefix: String)
    extends SideLog {

  def this(life: Life) = this(life, mutable.TreeMap.empty[String, Seq[String]], "")

  override def get(key: String): Option[Seq[String]] = entries.get(prefix + key)

  override def getOrCreate(key: String)(decide: => Seq[String]): Seq[String] = get(key).getOrElse {
    val decided = decide
    require(decided.forall(line => !line.contains('\n')), s"$prefix$key: an entry is a list of lines")
    life.reach(CrashPoint.BeforeEntry)
    entries.getOrElseUpdate(prefix + key, decided)
    life.step(s"entry $prefix$key: ${decided.mkString(" | ")}")
    life.reach(CrashPoint.AfterEntry)
    entries(prefix + key)
  }

  override def keys(start: String): Seq[String] =
    entries.rangeFrom(prefix + start).keysIterator.takeWhile(_.startsWith(prefix + start))
      .map(_.stripPrefix(prefix)).filterNot(_.contains('/')).toSeq

  override def remove(key: String): Unit = { val _ = entries.remove(prefix + key) }

  override def scope(name: String): SideLog = new SimulatedSideLog(life, entries, s"$prefix$name/")
}
