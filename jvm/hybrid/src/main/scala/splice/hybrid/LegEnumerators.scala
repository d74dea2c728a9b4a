// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid

import scala.util.Try

import splice.source.{EnumeratorContext, Position, SplitEnumerator}

/** The legs' enumerators of one run, each made when it is first needed. */
final private[hybrid] class LegEnumerators(chain: Chain, context: EnumeratorContext) extends AutoCloseable {

  private var made: Map[String, SplitEnumerator[Position]] = Map.empty

  def apply(leg: Leg): SplitEnumerator[Position] = made.getOrElse(
    leg.name, {
      val fresh = SplitEnumerator.untyped(leg.source, context.scope(LegEnumerators.scope(leg.name)))
      made += leg.name -> fresh
      fresh
    }
  )

  /** The enumerator, if this run ever needed it. */
  def find(leg: String): Option[SplitEnumerator[Position]] = made.get(leg)

  /** All enumerators that this run needed so far, by leg. */
  def all: Map[String, SplitEnumerator[Position]] = made

  /** Closes those of the legs before `leg`. */
  def closeBefore(leg: String): Unit = close(made.keySet.filter(name => chain.index(name) < chain.index(leg)))

  override def close(): Unit = close(made.keySet)

  // One that fails to close must not keep the others open.
  private def close(legs: Set[String]): Unit = {
    val results = legs.toSeq.sortBy(chain.index).map(name => Try(made(name).close()))
    made --= legs
    results.foreach(_.get)
  }
}

private[splice] object LegEnumerators {

  /** The part of the side log that belongs to a leg. The prefix keeps it apart from the entries of the chain, such as `initial`. */
  def scope(leg: String): String = s"leg-$leg"
}
