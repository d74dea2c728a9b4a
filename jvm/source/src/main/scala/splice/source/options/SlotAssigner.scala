// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source.options

/** Which slot reads which split (FLIP-537). */
sealed abstract class SlotAssigner(val word: String) extends Product with Serializable

object SlotAssigner {

  /** The splits of one topic go round the slots from a place that its name says: even per topic, not over all. */
  case object Hash extends SlotAssigner("hash")

  /** Every split goes to the slot that has fewest: even in splits, whatever they weigh. */
  case object RoundRobin extends SlotAssigner("roundRobin")

  /** Heaviest first to the slot that has least; a split stays where it was unless that costs balance (default). */
  case object Balanced extends SlotAssigner("balanced")

  val all: Seq[SlotAssigner] = Seq(Hash, RoundRobin, Balanced)
}
