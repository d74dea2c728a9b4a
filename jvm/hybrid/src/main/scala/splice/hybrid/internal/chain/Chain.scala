// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.chain

import splice.hybrid.HandOver

/** The legs of a hybrid in the order of reading.
  *
  * @param legs
  *   as the options of this start set them; never empty
  * @param decided
  *   for each leg whose switch was stored when the run began, whether the stored rule counts offsets. The rule of this start has no effect then
  */
final private[splice] case class Chain(legs: IndexedSeq[Leg], decided: Map[String, Boolean] = Map.empty) {

  private val indices: Map[String, Int] = legs.map(_.name).zipWithIndex.toMap

  def first: Leg = legs.head

  def last: Leg = legs.last

  def apply(name: String): Leg = legs(index(name))

  def index(name: String): Int = indices(name)

  def contains(name: String): Boolean = indices.contains(name)

  /** The leg after, if there is one. */
  def after(leg: Leg): Option[Leg] = legs.lift(index(leg.name) + 1)

  /** The legs before `leg` whose offsets a hand-over counts: all back to the nearest leg that reads a log, except those that are excluded.
    *
    * A log that began by a hand-over that counts offsets has counted the legs before it, also if it is excluded itself. One that began elsewhere repeats or
    * skips rows of these legs on purpose. So at most one rule counts a leg.
    */
  def history(leg: Leg): Seq[Leg] = {
    val before = legs.take(index(leg.name))
    before.drop(before.lastIndexWhere(beginsHistory)).filterNot(_.isExcluded)
  }

  private def beginsHistory(leg: Leg): Boolean = leg.source.readsLog && (counts(leg) || !leg.isExcluded)

  private def counts(leg: Leg): Boolean = decided.getOrElse(leg.name, leg.handOver.exists(_.counts.nonEmpty))

  /** The legs that have a rule that counts offsets and whose switch was not stored when the run began. */
  def undecided: Seq[Leg] = legs.filter(leg => !decided.contains(leg.name) && counts(leg))

  /** Whether the next leg had begun when the run began. */
  def hasEnded(leg: Leg): Boolean = after(leg).exists(next => decided.contains(next.name))

  /** The next leg whose hand-over counts the offsets of `leg`. */
  def counting(leg: Leg): Option[(Leg, HandOver.Offsets)] =
    later(leg).filter(counts).flatMap(next => next.handOver.flatMap(_.counts).map(next -> _)).find { case (next, _) =>
      history(next).contains(leg)
    }

  /** All legs after a leg. */
  def later(leg: Leg): Seq[Leg] = legs.drop(index(leg.name) + 1)

  /** The legs whose hand-over is not decided and would count a leg directly before `leg`. */
  def countsBefore(leg: Leg): Seq[Leg] = {
    val from = legs.drop(index(leg.name))
    from.take(from.indexWhere(beginsHistory) + 1 match {
      case 0     => from.size
      case until => until
    }).filter(undecided.contains)
  }

  /** The legs from one to another, both included. */
  def between(from: String, until: String): Seq[Leg] = legs.slice(index(from), index(until) + 1)
}
