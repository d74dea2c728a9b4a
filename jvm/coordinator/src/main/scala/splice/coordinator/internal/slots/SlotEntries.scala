// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.coordinator.internal.slots

import splice.source.internal.entries.NumberedEntries
import splice.source.options.SlotAssigner
import splice.source.runtime.SideLog
import splice.source.{Position, Source, SplitEnumerator, SplitRange}

/** The slot layouts of one checkpoint, oldest first. Each layout is a separate side-log entry. */
final private[splice] class SlotEntries(log: SideLog, source: Source[_ <: Position]) {

  private val entries = new NumberedEntries(log, "slots")(SlotLayout.read(_, source))

  private val costs = new SplitCosts

  private var layouts: Vector[(Int, SlotLayout)] = entries.numbers.toVector.map(number => number -> entries(number))

  /** Ensures that a batch of these ranges has a durable layout by `rules`. Uses the previous layout if this layout
    * still applies.
    */
  def cover(from: Position, ranges: Seq[SplitRange], enumerator: SplitEnumerator[Position], rules: SlotRules): Unit = {
    val slotted = ranges.filter(_.slotted)
    if (slotted.nonEmpty) {
      costs.learn(slotted.iterator.map(range => range.splitId -> math.max(enumerator.cost(range), 1L)))
      at(from).filter(l => l.rules == rules && l.covers(slotted)) match {
        case None         => append(make(from, slotted.map(_.splitId), enumerator, rules))
        case Some(layout) =>
          if (isTilted(layout)) {
            val next = make(from, slotted.map(_.splitId), enumerator, rules)
            if (next.assignment != layout.assignment) append(next)
          }
      }
    }
  }

  /** Returns the layout of a batch that begins at `from`. A range over several batches may begin before the first
    * layout, for example in a leg without slots. Such a range uses the first layout, which is the same in every run.
    */
  def at(from: Position): Option[SlotLayout] =
    layouts.lift(math.max(index(from), 0)).map(_._2)

  // Positions do not show whether a topic was added or removed in between. A layout begins at the start of the batch
  // that the layout was created for, so an equal position has priority.
  private def index(from: Position): Int = {
    val equal = layouts.lastIndexWhere(_._2.from == from)
    if (equal >= 0) equal else layouts.lastIndexWhere(_._2.from.precedes(from))
  }

  /** Removes the layouts that no batch from `oldest` on can need. */
  def purge(oldest: Position): Unit = {
    val needed = index(oldest)
    entries.purge(layouts.take(needed).map(_._1))
    layouts = layouts.drop(math.max(needed, 0))
  }

  /** The layout of the last planned batch, None before the first layout. */
  def last: Option[SlotLayout] = layouts.lastOption.map(_._2)

  private def isTilted(layout: SlotLayout): Boolean = {
    val rules = layout.rules
    rules.assigner == SlotAssigner.Balanced && rules.slots > 1 && {
      val (fullest, least) = Balance.extremes(layout.assignment, costs(_), rules.slots)
      costs.persists(fullest, least)
    }
  }

  private def make(
      from: Position,
      splits: Seq[String],
      enumerator: SplitEnumerator[Position],
      rules: SlotRules
  ): SlotLayout = {
    val current = at(from)
    val before  = current.fold(Map.empty[String, Int])(_.assignment)
    val kept    = current.map(_.rules).filter { last =>
      last.assigner == rules.assigner || rules.assigner == SlotAssigner.Balanced
    }
    val isMember = enumerator.isMember(from)
    val members  = before.keysIterator.filter(isMember).toSet ++ splits
    costs.retain(members)
    val known = members.iterator.map(split => split -> costs(split)).toMap
    val stay  = kept.fold(Map.empty[String, Int])(_ => before)
    SlotLayout(
      from,
      rules,
      Assigner.assign(rules.assigner, stay, known, rules.slots, kept.fold(rules.slots)(_.slots))
    )
  }

  private def append(layout: SlotLayout): Unit = {
    val number = entries.next
    layouts :+= (number -> entries.getOrCreate(number)(layout.lines))
  }
}
