// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.coordinator.internal.slots

import com.fasterxml.jackson.databind.JsonNode

import splice.source.internal.entries.Json
import splice.source.options.{CommonOptions, SlotAssigner, SourceOptions}

/** Rules that a user sets for the tasks of slotted splits. Each layout stores its rules, so a replay does not depend on
  * the current options.
  *
  * @param slots
  *   the number of tasks that share the splits
  * @param cut
  *   the conditions for cutting ranges, so that several tasks read one split
  */
final private[splice] case class SlotRules(slots: Int, assigner: SlotAssigner, cut: CutRules = CutRules.Never) {

  private[coordinator] def json: Seq[(String, JsonNode)] =
    Seq("slots" -> Json.number(slots.toLong), "assigner" -> Json.text(assigner.word)) ++ cut.json
}

/** Conditions for cutting ranges. A condition that is None is disabled.
  *
  * @param shareRows
  *   cuts a range that is larger than the fair share of one slot in a batch, into pieces of at least this number of
  *   rows
  * @param minTasks
  *   cuts ranges until this number of tasks is reached
  * @param maxRows
  *   cuts ranges, and divides the ranges of a slot among tasks, so that no task has more than this number of rows
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

  // A second consumer for fewer rows than this would cost more than it saves.
  private val LeastRowsOfPiece = 1000L

  /** Returns the rules for the given number of slots, balanced and without cuts. */
  def apply(slots: Int): SlotRules = SlotRules(slots, SlotAssigner.Balanced)

  /** Returns the rules that the options set.
    *
    * @param cores
    *   the number of slots if the option `slots` is not set
    * @throws splice.source.errors.SpliceOptionException
    *   if an option has an invalid value
    */
  def of(options: SourceOptions, cores: Int): SlotRules = {
    val cut = CutRules(
      shareRows = if (options(CommonOptions.SplitLargePartitions)) Some(LeastRowsOfPiece) else None,
      minTasks = options.find(CommonOptions.MinPartitions),
      maxRows = options.find(CommonOptions.MaxRecordsPerPartition)
    )
    SlotRules(options.find(CommonOptions.Slots).getOrElse(cores), options(CommonOptions.Assigner), cut)
  }

  /** Reads stored rules, or returns None if the rules are invalid. Early layouts of version 0.1 have no assigner,
    * because all these layouts used round robin.
    */
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
