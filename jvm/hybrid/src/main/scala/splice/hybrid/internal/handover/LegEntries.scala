// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.handover

import scala.annotation.tailrec

import org.slf4j.LoggerFactory

import splice.hybrid.HandOver
import splice.hybrid.internal.chain.{Chain, Leg, LegEnumerators}
import splice.source.Position
import splice.source.errors.CheckpointErrors
import splice.source.internal.entries.{NumberedEntries, VersionedEntry}
import splice.source.runtime.SideLog

/** Decisions about each leg of a chain. An entry is in the side-log scope of its leg, and is durable before use.
  *
  * An ended leg has a tally if a later hand-over counts its rows. The next leg then evaluates its rule, and its
  * source compares the result with the servers. After this check, Splice stores `hand-over-<n>` for the next leg. This
  * entry is the switch. The entry contains the end of the previous leg, the start of the next leg, and the holes of the
  * history that the log supplies. Before the switch is stored, a restart may change the rule and its policies. After
  * that, the rule and policies have no effect, and the storage of the ended leg is not used.
  *
  * @param written
  *   chain that the options of this start define
  */
final private[hybrid] class LegEntries(log: SideLog, written: Chain) {

  private val scopes =
    written.legs.map(leg => leg.name -> new LegEntries.Scope(log.scope(LegEnumerators.scope(leg.name)), leg)).toMap

  /** Chain with the rules that were decided before this object was created. */
  val chain: Chain =
    written.copy(decided = written.legs.flatMap(leg => switch(leg).map(leg.name -> _.counts)).toMap)

  /** Start of a leg; None before the switch to the leg. */
  def start(leg: Leg): Option[Position] = scopes(leg.name).switch.map(_.start)

  /** Start of a leg after the first leg of the query.
    *
    * @throws splice.source.errors.SpliceException
    *   if the switch is missing
    */
  def requiredStart(leg: Leg): Position = start(leg).getOrElse {
    val key = NumberedEntries.key(SwitchFormat.Prefix, 0)
    throw CheckpointErrors.missingEntry(s"Side-log entry $key of leg '${leg.name}'")
  }

  /** Stored switch to a leg, if any. */
  def switch(leg: Leg): Option[SwitchFormat.Switch] = scopes(leg.name).switch

  /** True if a leg has ended. */
  def hasEnded(leg: Leg): Boolean = chain.after(leg).exists(start(_).nonEmpty)

  /** Stores the switch to a leg. If another driver has stored a switch first, returns that switch. */
  def switch(leg: Leg, after: Leg, ended: Position, decision: HandOverDecision, start: Position): SwitchFormat.Switch =
    scopes(leg.name).switch(SwitchFormat.write(leg, after, ended, decision, start))

  /** True if the end of an ended leg is committed to its source. */
  def isCommitted(leg: Leg): Boolean = scopes(leg.name).isCommitted

  /** Records that the end of a leg is committed to its source. */
  def committed(leg: Leg, ended: Position): Unit = scopes(leg.name).committed(ended)

  /** Warns of each rule that was changed after the switch to its leg. Such a change has no effect. The first leg of a
    * chain has no rule.
    */
  def warnOfChangedRules(): Unit = chain.legs.drop(1).foreach { leg =>
    scopes(leg.name).switch.filterNot(_.rule == HandOver.text(leg.handOver)).foreach { switch =>
      LegEntries.logger.warn(
        s"The hand-over of leg '${leg.name}' was decided at ${switch.at} by the rule '${switch.rule}'. " +
          s"The rule '${HandOver.text(leg.handOver)}' of this start has no effect."
      )
    }
  }

  /** Warns of each leg that was removed before the commit of its end. The options of a removed leg are missing, so
    * Splice cannot commit the end.
    */
  def warnOfMissingCommits(): Unit = chain.legs.flatMap(leg => missingCommits(leg.name)).foreach { case (leg, end) =>
    LegEntries.logger.warn(
      s"Leg '$leg' was removed from the chain before Splice committed the end $end outside of the checkpoint, for example to the consumer " +
        s"group, which has the offsets of an earlier batch. To commit the end, add leg '$leg' again for one start, with the old name and " +
        "source, in the old place."
    )
  }

  /** Removed legs directly before `leg` whose end was not committed, with their ends. */
  @tailrec private def missingCommits(leg: String, later: Seq[(String, String)] = Nil): Seq[(String, String)] = {
    val entry = SwitchFormat.entries(log.scope(LegEnumerators.scope(leg))).find(0)
    entry.map(SwitchFormat.after).filterNot(chain.contains) match {
      case None         => later
      case Some(before) =>
        val isCommitted = log.scope(LegEnumerators.scope(before)).get(LegEntries.Committed).nonEmpty
        val end         = entry.flatMap(SwitchFormat.toCommit).filterNot(_ => isCommitted)
        missingCommits(before, end.map(before -> _).toSeq ++ later)
    }
  }
}

private[hybrid] object LegEntries {

  private val logger = LoggerFactory.getLogger(classOf[LegEntries])

  private val Committed = "committed"

  /** Side-log entries of one leg. */
  final private class Scope(log: SideLog, leg: Leg) {

    private lazy val handOvers = new NumberedEntries(log, SwitchFormat.Prefix)(SwitchFormat.read(_, leg.source))

    private var known = Option.empty[SwitchFormat.Switch]

    def isCommitted: Boolean = log.get(Committed).nonEmpty

    def committed(ended: Position): Unit = {
      val _ = log.getOrCreate(Committed)(VersionedEntry.write(Nil, Seq(ended.json)))
    }

    def switch: Option[SwitchFormat.Switch] = known.orElse {
      known = handOvers.find(0)
      known
    }

    def switch(lines: => Seq[String]): SwitchFormat.Switch = {
      val stored = handOvers.getOrCreate(0)(lines)
      known = Some(stored)
      stored
    }
  }
}
