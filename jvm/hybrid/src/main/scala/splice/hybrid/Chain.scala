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

  /** The legs before `leg` whose rows an exact hand-over counts: all back to the nearest leg that reads a log.
    *
    * A log that began by an exact hand-over has counted the legs before it, and one that began elsewhere repeats or skips rows of
    * these legs on purpose.
    */
  def history(leg: Leg): Seq[Leg] = {
    val before = legs.take(index(leg.name))
    before.drop(before.lastIndexWhere(_.source.readsLog))
  }

  /** The next leg whose exact hand-over counts the rows of `leg`. */
  def counting(leg: Leg): Option[(Leg, HandOver.Offsets)] = legs.drop(index(leg.name) + 1).collectFirst {
    case next @ Leg(_, _, _, Some(rule: HandOver.Offsets), _, _, _, _) if history(next).contains(leg) => next -> rule
  }

  /** The legs from one to another, both included. */
  def between(from: String, until: String): Seq[Leg] = legs.slice(index(from), index(until) + 1)
}
