// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source.options

/** Policy that assigns splits to slots (FLIP-537). */
sealed abstract class SlotAssigner(val word: String) extends Product with Serializable

object SlotAssigner {

  /** Assigns the partitions of one topic to consecutive slots, starting at a slot that the topic name determines. The
    * number of splits per slot is even for each topic, but not over all topics.
    */
  case object Hash extends SlotAssigner("hash")

  /** Assigns each split to the slot with the fewest splits. The number of splits per slot is even, regardless of their
    * weights.
    */
  case object RoundRobin extends SlotAssigner("roundRobin")

  /** Assigns each split to the slot with the least load, heaviest split first. A split stays in its slot unless the
    * balance requires a move (default).
    */
  case object Balanced extends SlotAssigner("balanced")

  val all: Seq[SlotAssigner] = Seq(Hash, RoundRobin, Balanced)
}
