// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.life.cluster

import org.apache.hadoop.fs.Path

import splice.source.runtime.SideLog
import splice.testkit.simulation.{CrashPoint, Life}

/** Side log that may kill the driver at entries of the query thread. */
final private[life] class KillingSideLog(log: SideLog, life: Life, owner: Thread = Thread.currentThread)
    extends SideLog {

  override def get(key: String): Option[Seq[String]] = log.get(key)

  override def getOrCreate(key: String)(decide: => Seq[String]): Seq[String] = log.get(key).getOrElse {
    val decided = decide
    reach(CrashPoint.BeforeEntry)
    val created = log.getOrCreate(key)(decided)
    reach(CrashPoint.AfterEntry)
    created
  }

  override def keys(start: String): Seq[String] = log.keys(start)

  override def remove(key: String): Unit = log.remove(key)

  override def scope(name: String): SideLog = new KillingSideLog(log.scope(name), life, owner)
  override def folder(name: String): Path   = log.folder(name)

  private def reach(point: CrashPoint): Unit = if (Thread.currentThread eq owner) life.reach(point)
}
