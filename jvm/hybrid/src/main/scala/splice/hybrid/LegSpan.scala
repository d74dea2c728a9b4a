// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid

import splice.source.{CheckpointErrors, Position}

/** The part of a batch that lies in one leg. */
final private[splice] case class LegSpan(leg: Leg, from: Position, until: Position)

private[splice] object LegSpan {

  /** What lies between two positions, leg by leg, without legs of which nothing is read.
    *
    * Where a leg ended is in `until`; where one began that `from` does not know is in the log of switches.
    */
  def between(chain: Chain, switches: SwitchLog, from: HybridPosition, until: HybridPosition): Seq[LegSpan] =
    chain.between(from.leg, until.leg).flatMap { leg =>
      val begin = if (leg.name == from.leg) from.position else start(switches, leg)
      val end   = until.position(leg.name)
      if (begin == end) None else Some(LegSpan(leg, begin, end))
    }

  private def start(switches: SwitchLog, leg: Leg): Position = switches.find(leg) match {
    case Some(switch) => leg.source.position(switch.start)
    case None         => throw CheckpointErrors.missingEntry(s"The side-log entry of the switch to leg '${leg.name}'")
  }
}
