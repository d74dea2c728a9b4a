// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.bounds

import java.time.Instant

import splice.kafka.internal.cluster.ClusterClient
import splice.kafka.internal.errors.{DataLoss, MissingRange, SkippedRows}
import splice.kafka.internal.options.OutOfRange
import splice.source.LogPartition

/** Applies the policy for partitions whose next record retention has removed (`onOutOfRange`). */
final private[kafka] class Retention(log: ClusterClient, policy: OutOfRange, skipped: SkippedRows) {

  private val loss = DataLoss(policy.fails, skipped)

  /** The offsets at which partitions continue, never before the end of their last gaps.
    *
    * @param reason
    *   the reason for the report
    * @param gaps
    *   requested ranges before the first offset of the log, in the order of the offsets
    * @param last
    *   the offset up to which a partition may be skipped
    * @throws splice.source.errors.SpliceException
    *   when the policy is to fail
    */
  def goOn(
      reason: String,
      gaps: Seq[MissingRange],
      last: LogPartition => Long = _ => Long.MaxValue
  ): Map[LogPartition, Long] =
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
      val continued = first.map { case (p, offset) =>
        p -> math.max(offset, math.min(to.getOrElse(p, offset), last(p)))
      }
      // The policy may skip offsets after the last gap of a partition.
      val passed = gaps.map { gap =>
        if (gap.until == first.get(gap.partition)) gap.copy(until = continued.get(gap.partition)) else gap
      }
      loss.report(s"$reason$continuation", passed)
      continued
    }

  private def continuation: String = policy match {
    case OutOfRange.Fail           => ""
    case OutOfRange.Earliest       => "; reading continues at the earliest record"
    case OutOfRange.Latest         => "; reading continues at the end"
    case OutOfRange.AtTime(millis) => s"; reading continues at ${Instant.ofEpochMilli(millis)}"
  }
}
