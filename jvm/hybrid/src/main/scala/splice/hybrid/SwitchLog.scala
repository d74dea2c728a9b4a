// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid

import splice.source._

/** The switches of one checkpoint: what each rule decided, and where each leg began. Every entry is written before it is used.
  *
  * A rule is asked once: its decision is durable in `hand-over-<n>` before the leg resolves it into fixed positions, which go to
  * `switch-<n>`. So a crash, or a broker that is away for a while, between the two asks nobody again.
  */
final private[splice] class SwitchLog(log: SideLog, chain: Chain) {

  /** The switch into `leg`, if it was made. */
  def find(leg: Leg): Option[Switch] = log.get(key("switch", leg)).map(Switch.read(key("switch", leg), _))

  /** The switch into `leg` from the end of the leg before; `begin` resolves what the rule decided. */
  def getOrMake(leg: Leg, end: Position)(decide: => HandOverDecision)(begin: StartPosition => Position): Switch = {
    val name  = key("switch", leg)
    val lines = log.getOrCreate(name)(Switch(leg.name, end.json, begin(decision(leg)(decide)).json).lines)
    Switch.read(name, lines)
  }

  /** How many switches were made. */
  def count: Int = chain.legs.tail.takeWhile(leg => log.get(key("switch", leg)).isDefined).size

  private def decision(leg: Leg)(decide: => HandOverDecision): StartPosition = {
    val name = key("hand-over", leg)
    DecisionFormat.read(name, log.getOrCreate(name)(DecisionFormat.write(leg, decide)), leg.onGap)
  }

  private def key(what: String, leg: Leg): String = s"$what-${chain.index(leg.name)}"
}
