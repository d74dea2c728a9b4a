// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.testkit.simulation

import splice.source.SideLog

/** A fault to plant: some decisions are made anew whenever they are asked for, as if they had never been written down. */
final class ForgetfulSideLog(log: SideLog, forgets: String => Boolean) extends SideLog {

  override def get(key: String): Option[Seq[String]] = if (forgets(key)) None else log.get(key)

  override def getOrCreate(key: String)(decide: => Seq[String]): Seq[String] =
    if (forgets(key)) decide else log.getOrCreate(key)(decide)

  override def keys(prefix: String): Seq[String] = log.keys(prefix).filterNot(forgets)

  override def remove(key: String): Unit = log.remove(key)

  override def scope(name: String): SideLog = new ForgetfulSideLog(log.scope(name), forgets)
}
