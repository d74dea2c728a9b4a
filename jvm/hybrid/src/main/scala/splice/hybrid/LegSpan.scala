// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid

import splice.source.{CheckpointErrors, Position}

/** The part of a batch that lies in one leg. */
final private[splice] case class LegSpan(leg: Leg, from: Position, until: Position)

private[splice] object LegSpan {

  /** What lies between two positions, leg by leg, without legs of which nothing is read.
    *
    * The end of a leg is in `until`. The start of a leg that `from` does not contain is in the side log.
    */
  def between(chain: Chain, log: LegLog, from: HybridPosition, until: HybridPosition): Seq[LegSpan] =
    chain.between(from.leg, until.leg).flatMap { leg =>
      val begin = if (leg.name == from.leg) from.position else start(log, leg)
      val end   = until.position(leg.name)
      if (begin == end) None else Some(LegSpan(leg, begin, end))
    }

  private def start(log: LegLog, leg: Leg): Position = log.start(leg).getOrElse {
    throw CheckpointErrors.missingEntry(s"The side-log entry of the start of leg '${leg.name}'")
  }
}
