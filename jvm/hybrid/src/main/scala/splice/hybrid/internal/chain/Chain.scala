// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.chain

import splice.hybrid.HandOver

/** Legs of a hybrid source in reading order.
  *
  * @param legs
  *   legs that the options of this start define; never empty
  * @param decided
  *   legs whose switch was stored before the run began, with true if the stored rule counts offsets. The stored rule
  *   replaces the configured rule of these legs
  */
final private[splice] case class Chain(legs: IndexedSeq[Leg], decided: Map[String, Boolean] = Map.empty) {

  private val indices: Map[String, Int] = legs.map(_.name).zipWithIndex.toMap

  def first: Leg = legs.head

  def last: Leg = legs.last

  def apply(name: String): Leg = legs(index(name))

  def index(name: String): Int = indices(name)

  def contains(name: String): Boolean = indices.contains(name)

  /** Next leg; None for the last leg. */
  def after(leg: Leg): Option[Leg] = legs.lift(index(leg.name) + 1)

  /** Legs before `leg` whose offsets a hand-over counts. The result begins at the nearest leg that reads a log and
    * omits excluded legs.
    *
    * A log that began by a counting hand-over has already counted its previous legs, even if the log itself is
    * excluded. A log with another start repeats or skips rows of these legs on purpose. Therefore, at most one rule
    * counts a leg.
    */
  def history(leg: Leg): Seq[Leg] = {
    val before = legs.take(index(leg.name))
    before.drop(before.lastIndexWhere(beginsHistory)).filterNot(_.isExcluded)
  }

  private def beginsHistory(leg: Leg): Boolean = leg.source.readsLog && (counts(leg) || !leg.isExcluded)

  private def counts(leg: Leg): Boolean = decided.getOrElse(leg.name, leg.handOver.exists(_.counts.nonEmpty))

  /** Legs with a rule that counts offsets and without a stored switch at the start of the run. */
  def undecided: Seq[Leg] = legs.filter(leg => !decided.contains(leg.name) && counts(leg))

  /** True if the switch to the next leg was stored before the run began. */
  def hasEnded(leg: Leg): Boolean = after(leg).exists(next => decided.contains(next.name))

  /** First later leg whose hand-over counts the offsets of `leg`, with its rule. */
  def counting(leg: Leg): Option[(Leg, HandOver.Offsets)] =
    later(leg).filter(counts).flatMap(next => next.handOver.flatMap(_.counts).map(next -> _)).find { case (next, _) =>
      history(next).contains(leg)
    }

  def later(leg: Leg): Seq[Leg] = legs.drop(index(leg.name) + 1)

  /** Legs with an undecided hand-over that would count a leg directly before `leg`. */
  def countsBefore(leg: Leg): Seq[Leg] = {
    val from = legs.drop(index(leg.name))
    from.take(from.indexWhere(beginsHistory) + 1 match {
      case 0     => from.size
      case until => until
    }).filter(undecided.contains)
  }

  /** Legs from `from` to `until`, both included. */
  def between(from: String, until: String): Seq[Leg] = legs.slice(index(from), index(until) + 1)
}
