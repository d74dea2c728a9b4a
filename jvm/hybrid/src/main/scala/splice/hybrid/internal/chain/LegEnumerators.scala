// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.chain

import scala.util.{Failure, Try}

import org.slf4j.LoggerFactory

import splice.source.{EnumeratorContext, Position, SplitEnumerator, StoredStart}

/** Enumerators of the legs in one run. Each enumerator is created at its first use. An error of a call has the name of
  * the leg.
  *
  * @param starts
  *   stored start of a leg, if any
  */
final private[splice] class LegEnumerators(chain: Chain, context: EnumeratorContext)(starts: Leg => Option[StoredStart])
    extends AutoCloseable {

  private var created: Map[String, SplitEnumerator[Position]] = Map.empty

  /** Calls the enumerator of a leg, which is created if necessary. */
  def apply[A](leg: Leg)(call: SplitEnumerator[Position] => A): A = leg.errors(call(opened(leg)))

  private def opened(leg: Leg): SplitEnumerator[Position] = created.getOrElse(
    leg.name, {
      val fresh = SplitEnumerator.untyped(leg.source, context.scope(LegEnumerators.scope(leg.name), starts(leg)))
      created += leg.name -> fresh
      fresh
    }
  )

  /** Calls the enumerator of a leg, if this run has created it. */
  def ifOpen[A](leg: String)(call: SplitEnumerator[Position] => A): Option[A] =
    created.get(leg).map(enumerator => chain(leg).errors(call(enumerator)))

  /** Calls all open enumerators of this run, with the names of their legs. */
  def foreach(call: (String, SplitEnumerator[Position]) => Unit): Unit =
    created.keys.foreach(leg => ifOpen(leg)(call(leg, _)))

  /** Closes the enumerators of the legs before `leg`. A failure is only logged, because the query already reads
    * another leg.
    */
  def closeBefore(leg: String): Unit =
    close(created.keySet.filter(name => chain.index(name) < chain.index(leg))).foreach {
      case (name, e) => LegEnumerators.logger.warn(s"Leg '$name' has ended, but the enumerator failed to close.", e)
    }

  /** Closes the enumerator of a leg whose start differs from the start in the enumerator. */
  def discard(leg: Leg): Unit = close(created.keySet & Set(leg.name)).foreach { case (_, e) => throw e }

  override def close(): Unit = close(created.keySet).foreach { case (_, e) => throw e }

  /** Closes the enumerators of the given legs. Returns the legs that failed to close. */
  private def close(legs: Set[String]): Seq[(String, Throwable)] = {
    val results = legs.toSeq.sortBy(chain.index).map(name => name -> Try(ifOpen(name)(_.close())))
    created --= legs
    results.collect { case (name, Failure(e)) => name -> e }
  }
}

private[splice] object LegEnumerators {

  private val logger = LoggerFactory.getLogger(classOf[LegEnumerators])

  /** Side-log scope of a leg. The prefix separates its entries from entries of the chain, such as `initial`. */
  def scope(leg: String): String = s"leg-$leg"
}
