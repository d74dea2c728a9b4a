// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source.internal

import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.{SparkSession, classic}

import splice.source.runtime.SessionSettings

/** Session of a query with the settings of the first start of its checkpoint. Confined to the query thread. */
final private[splice] class PinnedSession(val settings: SessionSettings) {

  // Spark's formats read some settings from the passed session and other settings from the active session.
  private lazy val pinned: SparkSession = {
    val base = SparkSession.active
    val copy = base.newSession()
    conf(base).getAllConfs.foreach { case (key, value) => conf(copy).setConfString(key, value) }
    settings.applyTo(conf(copy))
    copy
  }

  private def conf(of: SparkSession): SQLConf = of.asInstanceOf[classic.SparkSession].sessionState.conf

  /** Runs `body` with a session of these settings as the active session. */
  def run[A](body: => A): A =
    if (settings.isCurrent) body
    else {
      val before = SparkSession.active
      SparkSession.setActiveSession(pinned)
      try settings.within(body)
      finally SparkSession.setActiveSession(before)
    }
}
