// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.coordinator

import scala.collection.immutable.SortedMap

import splice.source.{Progress, SideLog, Source, SplitRange}

/** The slot layouts of one checkpoint, oldest first, each in a side-log entry of its own.
  *
  * @param slots
  *   how many slots this run wants; another number than the last layout's makes the assignment anew as a whole
  */
final private[splice] class SlotLog(log: SideLog, source: Source, slots: Int) {

  private val Prefix = "slots-"

  private var layouts: Vector[(String, SlotLayout)] =
    log.keys(Prefix).flatMap(key => log.get(key).map(lines => key -> SlotLayout.read(key, lines, source))).toVector

  /** Makes sure, durably, that a batch of these ranges has a layout. */
  def cover(from: Progress, ranges: Seq[SplitRange]): Unit = {
    val slotted = ranges.filter(_.slotted)
    if (slotted.nonEmpty) {
      val current = at(from)
      if (!current.exists(l => l.slots == slots && l.covers(slotted))) {
        val kept  = current.filter(_.slots == slots).map(_.assignment).getOrElse(SortedMap.empty[String, Int])
        val known = current.iterator.flatMap(_.assignment.keysIterator).toSeq
        append(SlotLayout(from, slots, Assigner.assign(kept, known ++ slotted.map(_.splitId), slots)))
      }
    }
  }

  /** The layout of a batch that begins at `from`. A range over several batches that begins before the first layout, as one does
    * that begins in a leg without slots, takes that one: it is the same in every run.
    */
  def at(from: Progress): Option[SlotLayout] =
    layouts.reverseIterator.map(_._2).find(_.from.precedes(from)).orElse(layouts.headOption.map(_._2))

  /** Forgets layouts that no batch from `oldest` on can need. */
  def purge(oldest: Progress): Unit = {
    val needed = layouts.lastIndexWhere(_._2.from.precedes(oldest))
    layouts.take(needed).foreach { case (key, _) => log.remove(key) }
    layouts = layouts.drop(math.max(needed, 0))
  }

  private def append(layout: SlotLayout): Unit = {
    val next = layouts.lastOption.map(_._1.stripPrefix(Prefix).toInt + 1).getOrElse(0)
    val key  = f"$Prefix$next%08d"
    layouts :+= (key -> SlotLayout.read(key, log.getOrCreate(key)(layout.lines), source))
  }
}
