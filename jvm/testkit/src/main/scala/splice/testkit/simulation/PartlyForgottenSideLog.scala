// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.testkit.simulation

import splice.source.SideLog

/** A fault to plant: one line of one entry is decided anew whenever somebody asks for the entry who would make it. */
final class PartlyForgottenSideLog(log: SideLog, key: String, forgotten: Int) extends SideLog {

  override def get(asked: String): Option[Seq[String]] = log.get(asked)

  override def getOrCreate(asked: String)(decide: => Seq[String]): Seq[String] =
    if (asked != key) log.getOrCreate(asked)(decide)
    else {
      val decided = decide
      log.getOrCreate(asked)(decided).updated(forgotten, decided(forgotten))
    }

  override def keys(start: String): Seq[String] = log.keys(start)

  override def remove(asked: String): Unit = log.remove(asked)

  override def scope(name: String): SideLog = new PartlyForgottenSideLog(log.scope(name), key, forgotten)
}
