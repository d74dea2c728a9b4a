// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.testkit.simulation

import java.io.IOException

import scala.collection.mutable

import org.apache.hadoop.fs.Path

import splice.coordinator.internal.sidelog.TemporaryFolder
import splice.source.errors.CheckpointErrors
import splice.source.runtime.SideLog

/** Storage of a side log that outlives the driver. This object returns all existing entries.
  *
  * A driver uses [[opened]], which lists each scope once at its first use, as in a folder. The driver may be killed
  * before and after each entry. A write or a removal may fail before or after it takes effect.
  */
final class SimulatedSideLog private (
    life: Life,
    entries: mutable.TreeMap[String, Seq[String]],
    prefix: String,
    temporary: TemporaryFolder
) extends SideLog {

  def this(life: Life) = this(life, mutable.TreeMap.empty[String, Seq[String]], "", new TemporaryFolder)

  /** View of the side log for a driver that opens the side log now. */
  def opened: SideLog = new SimulatedSideLog.Opened(life, entries, prefix, temporary)

  override def get(key: String): Option[Seq[String]] = entries.get(prefix + key)

  override def getOrCreate(key: String)(decide: => Seq[String]): Seq[String] = opened.getOrCreate(key)(decide)

  override def keys(start: String): Seq[String] = SimulatedSideLog.keys(entries, prefix, start)

  override def remove(key: String): Unit = { val _ = entries.remove(prefix + key) }

  override def scope(name: String): SideLog = new SimulatedSideLog(life, entries, s"$prefix$name/", temporary)

  override def folder(name: String): Path = new Path(temporary.path, s"$prefix$name")
}

/** Signals a removal with unknown outcome. A query must not fail because of this exception. */
final class RemovalFailed(key: String) extends IOException(s"$key may not be removed")

private object SimulatedSideLog {

  def keys(entries: mutable.TreeMap[String, Seq[String]], prefix: String, start: String): Seq[String] =
    entries.rangeFrom(prefix + start).keysIterator.takeWhile(_.startsWith(prefix + start))
      .map(_.stripPrefix(prefix)).filterNot(_.contains('/')).toSeq

  /** Scope of the side log in one driver. Entries that another driver creates later are not visible here. */
  final class Opened(
      life: Life,
      entries: mutable.TreeMap[String, Seq[String]],
      prefix: String,
      temporary: TemporaryFolder
  ) extends SideLog {

    private lazy val known = mutable.TreeSet.from(SimulatedSideLog.keys(entries, prefix, ""))

    override def get(key: String): Option[Seq[String]] =
      Option.when(known(key))(entries.getOrElse(prefix + key, throw CheckpointErrors.missingEntry(prefix + key)))

    override def getOrCreate(key: String)(decide: => Seq[String]): Seq[String] = get(key).getOrElse {
      val decided = decide
      require(decided.forall(line => !line.contains('\n')), s"$prefix$key: an entry is a list of lines")
      life.reach(CrashPoint.BeforeEntry)
      if (life.ioFails(OneWriteIn)) {
        life.met("a write fails before it takes effect")
        throw new IOException(s"$prefix$key is not written")
      }
      entries.get(prefix + key) match {
        case None    => write(key, decided)
        case Some(_) =>
          life.met("an entry of another driver is used")
          life.step(s"entry $prefix$key exists")
      }
      known += key
      entries.getOrElse(prefix + key, throw CheckpointErrors.missingEntry(prefix + key))
    }

    private def write(key: String, decided: Seq[String]): Unit = {
      if (life.isResumed) life.met("a frozen driver writes an entry after another one began")
      entries += prefix + key -> decided
      life.step(s"entry $prefix$key: ${decided.mkString(" | ")}")
      if (life.ioFails(OneWriteIn)) {
        life.met("a write fails after it took effect")
        throw new IOException(s"the write of $prefix$key has an unknown outcome")
      }
      life.reach(CrashPoint.AfterEntry)
    }

    override def keys(start: String): Seq[String] = known.rangeFrom(start).iterator.takeWhile(_.startsWith(start)).toSeq

    override def remove(key: String): Unit = {
      val fails = life.ioFails(OneRemovalIn)
      if (!fails || life.chance.oneIn(2)) { val _ = entries.remove(prefix + key) }
      if (fails) {
        life.met("a removal fails")
        throw new RemovalFailed(s"$prefix$key")
      }
      val _ = known.remove(key)
    }

    override def scope(name: String): SideLog = new Opened(life, entries, s"$prefix$name/", temporary)

    override def folder(name: String): Path = new Path(temporary.path, s"$prefix$name")
  }

  private val OneWriteIn   = 800
  private val OneRemovalIn = 10
}
