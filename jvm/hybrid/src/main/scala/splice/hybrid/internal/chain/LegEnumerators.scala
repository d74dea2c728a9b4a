// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.chain

import scala.util.{Failure, Try}

import org.slf4j.LoggerFactory

import splice.source.errors.SpliceException
import splice.source.{EnumeratorContext, Position, SplitEnumerator, StoredStart}

/** The legs' enumerators of one run, each made when it is first needed.
  *
  * @param starts
  *   where a leg begins, if that is stored
  */
final private[splice] class LegEnumerators(chain: Chain, context: EnumeratorContext)(starts: Leg => Option[StoredStart])
    extends AutoCloseable {

  private var made: Map[String, SplitEnumerator[Position]] = Map.empty

  def apply(leg: Leg): SplitEnumerator[Position] = made.getOrElse(
    leg.name, {
      val fresh = SplitEnumerator.untyped(leg.source, context.scope(LegEnumerators.scope(leg.name), starts(leg)))
      made += leg.name -> fresh
      fresh
    }
  )

  /** What the enumerator of a leg returns. An error of its source has the name of the leg. */
  def named[A](leg: Leg)(call: SplitEnumerator[Position] => A): A =
    try call(apply(leg))
    catch { case e: SpliceException => throw e.ofLeg(leg.name) }

  /** The enumerator, if this run ever needed it. */
  def find(leg: String): Option[SplitEnumerator[Position]] = made.get(leg)

  /** All enumerators that this run needed so far, by leg. */
  def all: Map[String, SplitEnumerator[Position]] = made

  /** Closes those of the legs before `leg`. One that fails to close is logged: the query reads another leg already. */
  def closeBefore(leg: String): Unit = close(made.keySet.filter(name => chain.index(name) < chain.index(leg))).foreach {
    case (name, e) => LegEnumerators.logger.warn(s"Leg '$name' has ended, and did not close in order.", e)
  }

  /** Closes the enumerator of a leg that begins elsewhere than the enumerator has decided. */
  def discard(leg: Leg): Unit = close(made.keySet & Set(leg.name)).foreach { case (_, e) => throw e }

  override def close(): Unit = close(made.keySet).foreach { case (_, e) => throw e }

  /** Closes all of these legs; returns the legs that fail to close. */
  private def close(legs: Set[String]): Seq[(String, Throwable)] = {
    val results = legs.toSeq.sortBy(chain.index).map(name => name -> Try(made(name).close()))
    made --= legs
    results.collect { case (name, Failure(e)) => name -> e }
  }
}

private[splice] object LegEnumerators {

  private val logger = LoggerFactory.getLogger(classOf[LegEnumerators])

  /** The part of the side log that belongs to a leg. The prefix keeps it apart from the entries of the chain, such as `initial`. */
  def scope(leg: String): String = s"leg-$leg"
}
