// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source

/** A split with a fixed start and end: the unit that a task reads. Java-serialised into the task. */
trait SplitRange extends Serializable {

  /** Names the split within its source, the same in every batch: a Kafka partition, a file's block. */
  def splitId: String

  /** Expected size, for balance only: rows for a log, bytes for files. */
  def weight: Long

  /** Whether the range shares a client with others of its slot (Kafka), or is a task of its own (files). */
  def slotted: Boolean

  /** Whether [[pieces]] can cut it. */
  def cuttable: Boolean = false

  /** Ranges of the same split that follow each other, with these weights, which add up to [[weight]]; called only when [[cuttable]].
    * The same weights give the same pieces.
    */
  def pieces(weights: Seq[Long]): Seq[SplitRange] = Seq(this)

  /** Hosts that hold the data, best first. */
  def preferredHosts: Seq[String] = Nil
}

/** What one task reads. `slot` names the reader to reuse from the batch before, for slotted ranges; else it is [[SlotRanges.NoSlot]]. */
final case class SlotRanges(slot: Int, ranges: IndexedSeq[SplitRange]) {

  def weight: Long = ranges.iterator.map(_.weight).sum

  def slotted: Boolean = ranges.headOption.exists(_.slotted)
}

object SlotRanges {

  /** The slot of a range that is a task of its own. */
  val NoSlot: Int = -1
}
