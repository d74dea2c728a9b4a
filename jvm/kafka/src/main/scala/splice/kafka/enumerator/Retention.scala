// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.enumerator

import java.time.Instant

import splice.kafka.options.OutOfRange
import splice.kafka.{DataLoss, MissingRange}
import splice.source.LogPartition

/** Where partitions go on whose next record retention has removed (`onOutOfRange`). */
final private[splice] class Retention(log: LogMetadata, policy: OutOfRange) {

  private val loss = DataLoss(policy.fails)

  /** The offsets at which partitions go on, never below the first that the log holds.
    *
    * @param gaps
    *   from the wanted offset until the first that the log holds
    * @throws splice.source.SpliceException
    *   when the policy is to fail
    */
  def goOn(what: String, gaps: Seq[MissingRange]): Map[LogPartition, Long] =
    if (gaps.isEmpty) Map.empty
    else {
      val first                       = gaps.flatMap(gap => gap.until.map(gap.partition -> _)).toMap
      val to: Map[LogPartition, Long] = policy match {
        case OutOfRange.Fail | OutOfRange.Earliest => first
        case OutOfRange.Latest                     => log.ends(first.keySet)
        case OutOfRange.AtTime(millis)             =>
          val ends = log.ends(first.keySet)
          ends ++ log.atTime(first.map { case (p, _) => p -> millis }).map { case (p, record) => p -> record.offset }
      }
      val goesOn = first.map { case (p, offset) => p -> math.max(offset, to.getOrElse(p, offset)) }
      loss.report(s"$what$say", gaps.map(gap => gap.copy(until = goesOn.get(gap.partition).orElse(gap.until))))
      goesOn
    }

  private def say: String = policy match {
    case OutOfRange.Fail           => ""
    case OutOfRange.Earliest       => "; reading goes on at the earliest record"
    case OutOfRange.Latest         => "; reading goes on at the end"
    case OutOfRange.AtTime(millis) => s"; reading goes on at ${Instant.ofEpochMilli(millis)}"
  }
}
