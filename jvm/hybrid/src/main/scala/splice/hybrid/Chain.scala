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

  /** The legs from one to another, both included. */
  def between(from: String, until: String): Seq[Leg] = legs.slice(index(from), index(until) + 1)
}
