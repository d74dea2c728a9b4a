// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.testkit.internal.simulation

import scala.collection.mutable

import org.apache.hadoop.fs.Path

import splice.source.runtime.SideLog

/** Injected fault: some decisions live only as long as this object, that is one run. The next run decides again.
  *
  * These decisions are still written, so a test can detect that the decisions existed before.
  */
final private[splice] class ForgetfulSideLog private (
    log: SideLog,
    forgets: String => Boolean,
    memory: mutable.TreeMap[String, Seq[String]],
    prefix: String
) extends SideLog {

  def this(log: SideLog, forgets: String => Boolean) =
    this(log, forgets, mutable.TreeMap.empty[String, Seq[String]], "")

  override def get(key: String): Option[Seq[String]] = if (forgets(key)) memory.get(prefix + key) else log.get(key)

  override def getOrCreate(key: String)(decide: => Seq[String]): Seq[String] =
    if (!forgets(key)) log.getOrCreate(key)(decide)
    else
      get(key).getOrElse {
        val decided = decide
        memory += prefix + key -> decided
        val _ = log.getOrCreate(key)(decided)
        decided
      }

  override def keys(start: String): Seq[String] =
    log.keys(start).filterNot(key => forgets(key) && !memory.contains(prefix + key))

  override def remove(key: String): Unit = {
    memory -= prefix + key
    log.remove(key)
  }

  override def scope(name: String): SideLog = new ForgetfulSideLog(log.scope(name), forgets, memory, s"$prefix$name/")

  override def folder(name: String): Path = log.folder(name)
}
