// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid

/** The legs of a hybrid in the order of reading; never empty. */
final private[splice] case class Chain(legs: IndexedSeq[Leg]) {

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

  private def beginsHistory(leg: Leg): Boolean =
    leg.source.readsLog && (leg.handOver.exists(_.counts.nonEmpty) || !leg.isExcluded)

  /** The next leg whose hand-over counts the offsets of `leg`. */
  def counting(leg: Leg): Option[(Leg, HandOver.Offsets)] =
    later(leg).flatMap(next => next.handOver.flatMap(_.counts).map(next -> _)).find { case (next, _) =>
      history(next).contains(leg)
    }

  /** All legs after a leg. */
  def later(leg: Leg): Seq[Leg] = legs.drop(index(leg.name) + 1)

  /** The legs whose hand-over would count a leg directly before `leg`. */
  def countsBefore(leg: Leg): Seq[Leg] = {
    val from = legs.drop(index(leg.name))
    from.take(from.indexWhere(beginsHistory) + 1 match {
      case 0     => from.size
      case until => until
    }).filter(_.handOver.exists(_.counts.nonEmpty))
  }

  /** The legs from one to another, both included. */
  def between(from: String, until: String): Seq[Leg] = legs.slice(index(from), index(until) + 1)
}
