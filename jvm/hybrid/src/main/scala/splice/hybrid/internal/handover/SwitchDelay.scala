// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.handover

import java.time.{Duration, Instant}

import org.slf4j.LoggerFactory

import splice.hybrid.internal.chain.Leg
import splice.source.{Evidence, LogPartition}

/** Delay of a watermark that the switch to a log needs, because the first records of the log may be older than the newest
  * row of the history.
  *
  * @param needed
  *   None if the rule of the leg has no time column, or if no partition has a record
  */
final private[splice] case class SwitchDelay(needed: Option[Duration])

private[splice] object SwitchDelay {

  private val logger = LoggerFactory.getLogger(classOf[SwitchDelay])

  /** Compares the first records of a log with the greatest event time of the history.
    *
    * @param first
    *   times of the first records; requested only if the rule has a time column
    * @return
    *   None if `leg` does not begin at offsets of a log
    */
  def apply(leg: Leg, end: Evidence)(first: => Iterable[(LogPartition, Instant)]): Option[SwitchDelay] =
    Option.when(leg.source.beginsByOffsets) {
      // Without such a column, the rows of the history have no counted times.
      val newest = leg.handOver.flatMap(_.timeColumn).flatMap(_ => end.eventTimes()).map(_.last)
      val oldest = newest.flatMap(last => first.minByOption(_._2).map(last -> _))
      SwitchDelay(oldest.map { case (last, (partition, time)) =>
        // A row is late if it is older than the newest row by the delay or more.
        val needed = if (time.isAfter(last)) Duration.ZERO else Duration.between(time, last).plusMillis(1)
        if (!needed.isZero)
          logger.warn(
            s"The first record of $partition in leg '${leg.name}' has the time $time, and the newest row of the history has " +
              s"the time $last. A watermark needs a delay of at least ${needed.toMillis} ms, or rows are late."
          )
        needed
      })
    }
}
