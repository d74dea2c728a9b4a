// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.coordinator.internal.slots

import splice.source.internal.entries.{Json, VersionedEntry}
import splice.source.{Position, Source, SplitRange, TaskRanges}

/** The number of slots and the splits of each slot. A layout applies to every batch that begins at `from` or later,
  * until the next layout.
  *
  * A replay must repeat the tasks of a batch. Therefore the layout is stored in the side log before Spark logs the
  * offset that uses the layout.
  */
final private[splice] case class SlotLayout(from: Position, rules: SlotRules, assignment: Map[String, Int]) {

  def covers(ranges: Seq[SplitRange]): Boolean = ranges.forall(r => assignment.contains(r.splitId))

  /** Returns the tasks of a batch. Each slot that has ranges has one task, or several if the rules cut its ranges. Each
    * range that needs no slot has one task.
    */
  def tasks(ranges: Seq[SplitRange]): Seq[TaskRanges] = {
    val (slotted, single) = ranges.partition(_.slotted)
    val shared = slotted.groupBy(slotOf).toSeq.sortBy(_._1).map { case (slot, share) => slot -> share.toIndexedSeq }
    TaskCut(rules, shared) ++
      single.map(range => TaskRanges(None, IndexedSeq(range)))
  }

  // A range over several batches begins in one layout, and may contain a split that only a later layout assigns.
  private def slotOf(range: SplitRange): Int =
    assignment.getOrElse(range.splitId, Math.floorMod(range.splitId.hashCode, rules.slots))

  def lines: Seq[String] =
    VersionedEntry.write(
      ("from" -> Json.text(from.json)) +: rules.json,
      assignment.toSeq.sorted.map { case (split, slot) =>
        Json.write(Json.array(Seq(Json.text(split), Json.number(slot.toLong))))
      }
    )
}

private[splice] object SlotLayout {

  def read(entry: VersionedEntry, source: Source[_ <: Position]): SlotLayout = {
    val rules      = SlotRules.read(entry.head).getOrElse(entry.corrupt("'slots' is missing, or 'assigner' is unknown"))
    val assignment = entry.nodes.map(Json.items).map {
      case Seq(split, slot) => split.asText -> slot.asInt
      case other            => entry.corrupt(s"$other is not a split and a slot")
    }
    SlotLayout(source.position(entry.text("from")), rules, assignment.toMap)
  }
}
