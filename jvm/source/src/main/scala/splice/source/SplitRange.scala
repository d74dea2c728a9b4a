// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source

import splice.source.log.Extent

/** Part of a split with a fixed start: the unit that a task reads. Java-serialised into the task. */
trait SplitRange extends Serializable {

  /** Name of the split within its source, equal in every batch. For example, the name of a Kafka partition or of a
    * block of a file.
    */
  def splitId: String

  /** Expected size, used only to balance tasks: rows for a log, bytes for files. */
  def weight: Long = 1L

  /** True if the range has no end ([[OpenEnded]]), so that its reader never ends. */
  def isOpen: Boolean = false

  /** True if the range shares a client with other ranges of its slot (Kafka). False if the range is a separate task
    * (files).
    */
  def slotted: Boolean = false

  /** True if [[pieces]] can cut the range. */
  def cuttable: Boolean = false

  /** Cuts the range into consecutive ranges of the same split. Called only if [[cuttable]] is true. Equal weights
    * result in equal pieces.
    *
    * @param weights
    *   weights of the pieces, which add up to [[weight]]
    */
  def pieces(weights: Seq[Long]): Seq[SplitRange] = Seq(this)

  /** Extents of the rows in the range, in the format of [[Coverage]]. Empty for a source whose rows are not counted
    * during reading.
    */
  def extents: Seq[Extent] = Nil

  /** Hosts that store the data, best host first. */
  def preferredHosts: Seq[String] = Nil
}

/** Ranges that one task reads.
  *
  * @param slot
  *   slot whose reader the task reuses from the previous batch; None for ranges without a slot. Also None if
  *   several tasks read pieces of the ranges of one slot
  */
final case class TaskRanges(slot: Option[Int], ranges: IndexedSeq[SplitRange]) {

  def weight: Long = ranges.iterator.map(_.weight).sum
}
