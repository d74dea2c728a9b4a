// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.simulation

import java.time.Duration

import splice.hybrid.HandOver

/** Legs of a chain and their hand-over rules. */
sealed trait Shape extends Product with Serializable {

  /** True if each row is delivered once; else rows of the overlap are duplicated. */
  def exact: Boolean = true
}

object Shape {

  /** Two archives, then the log from the end of the second archive. */
  case object Archives extends Shape

  /** Three archives, then the log from the end of the third archive. */
  case object Dumps extends Shape

  /** An archive, the log up to its end, then the same log from that end. */
  case object Twice extends Shape

  /** An archive, the remaining records of the old cluster, then a new cluster. */
  case object Moved extends Shape

  /** No archive. Two bounded reads of the log, then an unbounded read of the log. */
  case object Relay extends Shape

  /** Two archives, then the log from the start of a user-defined rule, which is the end of the archives. */
  case object Custom extends Shape

  /** Two archives, then the log by a time rule. */
  final case class ByTime(rule: HandOver) extends Shape {
    override def exact: Boolean = false
  }

  /** `archives` archives, then the log from the end of the last archive. */
  final case class Long(archives: Int) extends Shape

  /** Shapes with exact rules. */
  val all: Seq[Shape] = Seq(Archives, Dumps, Twice, Moved, Relay, Custom)

  val byTime: Seq[Shape] = Seq(
    ByTime(HandOver.eventTime("timestamp", Duration.ZERO)),
    ByTime(HandOver.eventTime("timestamp", Duration.ofMinutes(5))),
    ByTime(HandOver.modificationTime(Duration.ofMinutes(10))),
    ByTime(HandOver.nowMinus(Duration.ofSeconds(30))),
    ByTime(HandOver.nowMinus(Duration.ofMinutes(10)))
  )
}
