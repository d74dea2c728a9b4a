// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source

import splice.source.log.Extent

/** A part of a split with a fixed start: the unit that a task reads. Java-serialised into the task. */
trait SplitRange extends Serializable {

  /** Names the split within its source, the same in every batch: a Kafka partition, a file's block. */
  def splitId: String

  /** Expected size, for balance only: rows for a log, bytes for files. */
  def weight: Long = 1L

  /** Whether the range has no end ([[OpenEnded]]), so that its reader is never at its end. */
  def isOpen: Boolean = false

  /** Whether the range shares a client with other ranges of its slot (Kafka), or is a task alone (files). */
  def slotted: Boolean = false

  /** Whether [[pieces]] can cut it. */
  def cuttable: Boolean = false

  /** Ranges of the same split that follow each other, with these weights, which add up to [[weight]]; called only when [[cuttable]].
    * The same weights give the same pieces.
    */
  def pieces(weights: Seq[Long]): Seq[SplitRange] = Seq(this)

  /** What the range holds, as [[Coverage]] keeps it. Empty for a source whose rows are not counted while they are read. */
  def extents: Seq[Extent] = Nil

  /** Hosts that hold the data, best first. */
  def preferredHosts: Seq[String] = Nil
}

/** What one task reads.
  *
  * @param slot
  *   the slot whose reader the task reuses from the previous batch; None for ranges without a slot, and for pieces of a slot's ranges that
  *   several tasks read
  */
final case class TaskRanges(slot: Option[Int], ranges: IndexedSeq[SplitRange]) {

  def weight: Long = ranges.iterator.map(_.weight).sum
}
