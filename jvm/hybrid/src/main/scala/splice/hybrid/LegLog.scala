// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid

import org.slf4j.LoggerFactory

import splice.source._

/** What a chain decides once about each leg. The entries are in the leg's scope of the side log, each durable before it is used.
  *
  * A leg that ends has its tally, if a later hand-over counts its rows. Then the next leg stores `hand-over-<n>`, which is the
  * decision of its rule; the ended leg stores `ended`; the next leg stores `start-<n>`, which is the decision as a position of its source.
  * So a rule is evaluated once, and from `ended` on the ended leg's storage may be removed. A rule that the user changes before `start-<n>`,
  * for example because its start does not exist any more, is evaluated too, and its decision is the next `hand-over-<n>`: the last holds.
  */
final private[hybrid] class LegLog(log: SideLog, chain: Chain) {

  private val scopes =
    chain.legs.map(leg => leg.name -> new LegLog.Scope(log.scope(LegEnumerators.scope(leg.name)), leg)).toMap

  /** Where a leg begins; None before the switch to it. */
  def start(leg: Leg): Option[Position] = scopes(leg.name).starts.find(0)

  /** The same; `begin` runs, and its result is stored, only before the switch. */
  def start(leg: Leg, begin: => Position): Position =
    scopes(leg.name).starts.getOrCreate(0)(VersionedEntry.write(Seq("last" -> Json.bool(true)), Seq(begin.json)))

  /** Whether a leg has ended. */
  def hasEnded(leg: Leg): Boolean = scopes(leg.name).ended.nonEmpty

  /** Whether a leg has ended at this position. */
  def hasEnded(leg: Leg, at: Position): Boolean = scopes(leg.name).ended.contains(at.json)

  /** Stores the position at which a leg has ended. */
  def end(leg: Leg, at: Position): Unit = scopes(leg.name).end(at)

  /** What the rule of a leg decided; None before, and if the rule was changed before the leg began. */
  def decision(leg: Leg): Option[StartPosition] = scopes(leg.name).decided.filter(isOf(leg, _)).map(_.start(leg.onGap))

  /** The same; `decide` runs, and its result is stored, only if there is no decision. */
  def decision(leg: Leg, decide: => HandOverDecision): StartPosition = decision(leg).getOrElse {
    scopes(leg.name).handOvers.append(DecisionFormat.write(leg, decide)).start(leg.onGap)
  }

  private def isOf(leg: Leg, decided: DecisionFormat.Decided): Boolean = decided.rule == HandOver.text(leg.handOver)

  /** Warns of each rule that was changed after its leg began, and has no effect. */
  def warnOfChangedRules(): Unit = chain.legs.filter(start(_).nonEmpty).foreach { leg =>
    scopes(leg.name).decided.filterNot(isOf(leg, _)).foreach { decided =>
      LegLog.logger.warn(
        s"The hand-over of leg '${leg.name}' was decided at ${decided.at} by the rule '${decided.rule}'. " +
          s"The rule '${HandOver.text(leg.handOver)}' of this start has no effect."
      )
    }
  }
}

private[hybrid] object LegLog {

  private val logger = LoggerFactory.getLogger(classOf[LegLog])

  private val Ended = "ended"

  /** The entries of one leg. */
  final private class Scope(log: SideLog, leg: Leg) {

    lazy val handOvers = new NumberedEntries(log, "hand-over")(DecisionFormat.read)

    /** The last decision, which holds. */
    def decided: Option[DecisionFormat.Decided] = handOvers.numbers.lastOption.map(handOvers(_))

    lazy val starts = new NumberedEntries(log, "start")(entry => leg.source.position(entry.line))

    /** The text of the position at which the leg ended. */
    def ended: Option[String] = log.get(Ended).map(VersionedEntry.read(Ended, _).line)

    def end(at: Position): Unit = { val _ = log.getOrCreate(Ended)(VersionedEntry.write(Nil, Seq(at.json))) }
  }
}
