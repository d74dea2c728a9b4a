// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.handover

import scala.annotation.tailrec

import org.slf4j.LoggerFactory

import splice.hybrid.HandOver
import splice.hybrid.internal.chain.{Chain, Leg, LegEnumerators}
import splice.source.Position
import splice.source.internal.entries.{NumberedEntries, VersionedEntry}
import splice.source.runtime.SideLog

/** What a chain decides once about each leg. The entries are in the leg's scope of the side log, each durable before it is used.
  *
  * A leg that ends has its tally, if a later hand-over counts its rows. Then the next leg evaluates its rule, and its source
  * compares the result with the servers. Only if that succeeds, the next leg stores `hand-over-<n>`: the position at which the previous
  * leg ended, the position at which this one begins, and the holes of the history that the log supplies. That entry is the switch. Until it
  * is stored, a restart may change the rule and its policies; after it, they have no effect, and the storage of the ended leg is not used.
  *
  * @param written
  *   the chain that the options of this start set
  */
final private[hybrid] class LegLog(log: SideLog, written: Chain) {

  private val scopes =
    written.legs.map(leg => leg.name -> new LegLog.Scope(log.scope(LegEnumerators.scope(leg.name)), leg)).toMap

  /** The chain, with the rules that are decided when this object is created. */
  val chain: Chain =
    written.copy(decided = written.legs.flatMap(leg => switch(leg).map(leg.name -> _.counts)).toMap)

  /** Where a leg begins; None before the switch to it. */
  def start(leg: Leg): Option[Position] = scopes(leg.name).switch.map(_.start)

  /** The switch to a leg, if it is stored. */
  def switch(leg: Leg): Option[SwitchFormat.Switch] = scopes(leg.name).switch

  /** Whether a leg has ended. */
  def hasEnded(leg: Leg): Boolean = chain.after(leg).exists(start(_).nonEmpty)

  /** Stores the switch to a leg. The result is the switch of another driver, if that driver has stored it meanwhile. */
  def switch(leg: Leg, after: Leg, ended: Position, decision: HandOverDecision, start: Position): SwitchFormat.Switch =
    scopes(leg.name).switch(SwitchFormat.write(leg, after, ended, decision, start))

  /** Whether the source of an ended leg has received the commit of its end. */
  def isCommitted(leg: Leg): Boolean = scopes(leg.name).isCommitted

  /** Stores that the source of a leg has received the commit of its end. */
  def committed(leg: Leg, ended: Position): Unit = scopes(leg.name).committed(ended)

  /** Warns of each rule that was changed after the switch to its leg, and has no effect. The first leg of a chain can have no rule. */
  def warnOfChangedRules(): Unit = chain.legs.drop(1).foreach { leg =>
    scopes(leg.name).switch.filterNot(_.rule == HandOver.text(leg.handOver)).foreach { switch =>
      LegLog.logger.warn(
        s"The hand-over of leg '${leg.name}' was decided at ${switch.at} by the rule '${switch.rule}'. " +
          s"The rule '${HandOver.text(leg.handOver)}' of this start has no effect."
      )
    }
  }

  /** Warns of each leg that was removed before the commit of its end. Without the leg, its source and its options are not known. */
  def warnOfMissingCommits(): Unit = chain.legs.flatMap(leg => missingCommits(leg.name)).foreach { case (leg, end) =>
    LegLog.logger.warn(
      s"Leg '$leg' was removed from the chain before Splice committed its end $end outside of the checkpoint, for example to its consumer " +
        s"group, which has the offsets of an earlier batch. To commit the end, add leg '$leg' again for one start: with its old name and " +
        "source, in its old place."
    )
  }

  /** The removed legs directly before a leg whose end is to be committed, and was not. */
  @tailrec private def missingCommits(leg: String, later: Seq[(String, String)] = Nil): Seq[(String, String)] = {
    val entry = SwitchFormat.entries(log.scope(LegEnumerators.scope(leg))).find(0)
    entry.map(SwitchFormat.after).filterNot(chain.contains) match {
      case None         => later
      case Some(before) =>
        val isCommitted = log.scope(LegEnumerators.scope(before)).get(LegLog.Committed).nonEmpty
        val end         = entry.flatMap(SwitchFormat.toCommit).filterNot(_ => isCommitted)
        missingCommits(before, end.map(before -> _).toSeq ++ later)
    }
  }
}

private[hybrid] object LegLog {

  private val logger = LoggerFactory.getLogger(classOf[LegLog])

  private val Committed = "committed"

  /** The entries of one leg. */
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
