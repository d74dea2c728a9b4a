// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.coordinator.slots

import com.fasterxml.jackson.databind.JsonNode

import splice.source.internal.entries.Json
import splice.source.options.{CommonOptions, SlotAssigner, SourceOptions}

/** What a user asks of the tasks of slotted splits. It is written down with each layout, so that a replay does not depend on
  * the options of the day.
  *
  * @param slots
  *   how many tasks share the splits
  * @param cut
  *   when ranges are cut, so that several tasks read one split
  */
final private[splice] case class SlotRules(slots: Int, assigner: SlotAssigner, cut: CutRules = CutRules.Never) {

  private[coordinator] def json: Seq[(String, JsonNode)] =
    Seq("slots" -> Json.number(slots.toLong), "assigner" -> Json.text(assigner.word)) ++ cut.json
}

/** When ranges are cut; None = not for this reason.
  *
  * @param shareRows
  *   cuts a range that is more than one slot's fair share of a batch, into pieces of at least so many rows
  * @param minTasks
  *   cuts ranges until there are so many tasks
  * @param maxRows
  *   cuts ranges, and parts a slot's, so that no task has more rows
  */
final private[splice] case class CutRules(
    shareRows: Option[Long] = None,
    minTasks: Option[Int] = None,
    maxRows: Option[Long] = None
) {

  private[coordinator] def json: Seq[(String, JsonNode)] =
    shareRows.map("shareRows" -> Json.number(_)).toSeq ++
      minTasks.map(n => "minTasks" -> Json.number(n.toLong)) ++ maxRows.map("maxRows" -> Json.number(_))
}

private[splice] object CutRules {
  val Never: CutRules = CutRules()
}

private[splice] object SlotRules {

  // Another consumer for fewer rows would cost more than it saves.
  private val LeastRowsOfPiece = 1000L

  /** The rules without options: as many slots as asked for, balanced. */
  def apply(slots: Int): SlotRules = SlotRules(slots, SlotAssigner.Balanced)

  /** The rules that the options set.
    *
    * @param cores
    *   the number of slots if no option sets it
    * @throws splice.source.errors.SpliceOptionException
    *   when an option has an invalid value
    */
  def of(options: SourceOptions, cores: Int): SlotRules = {
    val cut = CutRules(
      shareRows = if (options(CommonOptions.SplitLargePartitions)) Some(LeastRowsOfPiece) else None,
      minTasks = options.find(CommonOptions.MinPartitions),
      maxRows = options.find(CommonOptions.MaxRecordsPerPartition)
    )
    SlotRules(options.find(CommonOptions.Slots).getOrElse(cores), options(CommonOptions.Assigner), cut)
  }

  /** Reads back what was written; a layout of version 0.1 before assigners could be chosen went round. */
  private[coordinator] def read(head: JsonNode): Option[SlotRules] = {
    def long(name: String) = Json.field(head, name).filter(_.isIntegralNumber).map(_.asLong)
    val word               = Json.field(head, "assigner").fold(SlotAssigner.RoundRobin.word)(_.asText)
    for {
      slots    <- long("slots")
      assigner <- SlotAssigner.all.find(_.word == word)
    } yield SlotRules(
      slots.toInt,
      assigner,
      CutRules(long("shareRows"), long("minTasks").map(_.toInt), long("maxRows"))
    )
  }
}
