// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.simulation

import java.time.Duration

import splice.hybrid.HandOver

/** Which legs a chain has, and how each takes over. */
sealed trait Shape extends Product with Serializable {

  /** Whether each row comes out once; else rows of the overlap come twice. */
  def exact: Boolean = true
}

object Shape {

  /** Two archives, then the log from where the second ends. */
  case object Archives extends Shape

  /** Three archives, then the log from where the third ends. */
  case object Dumps extends Shape

  /** An archive, the log up to its end, then the same log from there. */
  case object Twice extends Shape

  /** An archive, what is left of the old cluster, then a new cluster. */
  case object Moved extends Shape

  /** No archive: the log up to its end, again up to its end, and then for ever. */
  case object Relay extends Shape

  /** Two archives, then the log from where a rule of the user starts it, which is the end of the archives. */
  case object Custom extends Shape

  /** Two archives, then the log by a rule that says a time. */
  final case class ByTime(rule: HandOver) extends Shape {
    override def exact: Boolean = false
  }

  /** So many archives, then the log from where the last ends. */
  final case class Long(archives: Int) extends Shape

  /** Those whose rules are exact. */
  val all: Seq[Shape] = Seq(Archives, Dumps, Twice, Moved, Relay, Custom)

  val byTime: Seq[Shape] = Seq(
    ByTime(HandOver.eventTime("timestamp", Duration.ZERO)),
    ByTime(HandOver.eventTime("timestamp", Duration.ofMinutes(5))),
    ByTime(HandOver.modificationTime(Duration.ofMinutes(10))),
    ByTime(HandOver.nowMinus(Duration.ofSeconds(30))),
    ByTime(HandOver.nowMinus(Duration.ofMinutes(10)))
  )
}
