// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid

import java.time.Duration

import scala.annotation.tailrec
import scala.collection.immutable.SortedMap

import splice.source._

/** Drives the legs of a chain one after another (FLIP-150's HybridSourceSplitEnumerator).
  *
  * A leg's enumerator is made when the leg is first needed. When its leg has ended, the next `advance` asks the hand-over rule of
  * the next one, writes down what it decided, and goes on in that leg at once; the offset names the leg, so a switch is progress
  * even when the new leg has no row yet. An ended leg's enumerator is closed when a later leg's batch is committed, and is made
  * again only for a span that begins in that leg.
  */
final private[splice] class HybridEnumerator(chain: Chain, context: EnumeratorContext) extends SplitEnumerator {

  private val switches     = new SwitchLog(context.sideLog, chain)
  private val tallies      = new LegTallies(context.sideLog, chain)
  private val enumerators  = new LegEnumerators(chain, context)
  private lazy val session = SessionSettings.pinned(context.sideLog)

  override def start(at: StartPosition): Position = {
    session
    HybridPosition.first(chain, enumerators(chain.first).start(at))
  }

  override def limits(at: Position): Limits.Limited = limits(own(at))

  override def advance(from: Position, limits: Limits): Position = go(own(from), limits)

  override def splits(from: Position, until: Position): Seq[SplitRange] = {
    val (first, last) = (own(from), own(until))
    LegSpan.between(chain, switches, first, last).flatMap { span =>
      enumerators(span.leg).splits(span.from, span.until).map(LegRange(span.leg.name, _, session))
    }
  }

  override def cost(range: SplitRange): Long = range match {
    case LegRange(leg, inner, _) => enumerators.find(leg).fold(inner.weight)(_.cost(inner))
    case other                   => other.weight
  }

  // Only the leg that is being read knows; those before it have ended, and those after it have no split yet.
  override def isMember(at: Position): String => Boolean = {
    val here   = own(at)
    val inner  = enumerators.find(here.leg).fold((_: String) => true)(_.isMember(here.position))
    val prefix = s"${here.leg}/"
    split => split.startsWith(prefix) && inner(split.drop(prefix.length))
  }

  override def end(at: Position): Option[EndState] = {
    val here = own(at)
    if (here.leg == chain.last.name) enumerators(chain.last).end(here.position).map(new HybridEndState(here, _))
    else None
  }

  // Legs that have ended are left alone: their storage may be gone.
  override def freeze(): Unit = chain.legs.drop(switches.count).foreach(leg => enumerators(leg).freeze())

  override def committed(until: Position): Unit = {
    val at = own(until)
    chain.between(chain.first.name, at.leg).foreach { leg =>
      enumerators.find(leg.name).foreach(_.committed(at.position(leg.name)))
    }
    enumerators.closeBefore(at.leg)
  }

  override def report(at: Position): SortedMap[String, String] = {
    val here  = own(at)
    val inner = enumerators.find(here.leg).fold(SortedMap.empty[String, String])(_.report(here.position))
    inner ++ Seq(ProgressMetric.Leg -> here.leg, ProgressMetric.Switches -> chain.index(here.leg).toString)
  }

  override def close(): Unit = enumerators.close()

  @tailrec private def go(at: HybridPosition, limits: Limits): HybridPosition = {
    val leg = chain(at.leg)
    switched(at, leg) match {
      case Some(begun) => go(begun, if (limits == Limits.Everything) limits else this.limits(begun))
      case None        => at.moved(enumerators(leg).advance(at.position, limits))
    }
  }

  /** The next leg's start, when `leg` has ended at `at` and is not the last. */
  private def switched(at: HybridPosition, leg: Leg): Option[HybridPosition] =
    chain.after(leg).flatMap { next =>
      begun(at, next).orElse {
        enumerators(leg).end(at.position).map { end =>
          tallies.keep(leg, end)
          val now      = context.clock.instant()
          def decision = HandOverDecision.decide(leg, next, end, now)(tallies.before(next))
          val switch   = switches.getOrMake(next, at.position)(decision)(enumerators(next).start(_))
          at.switched(next.name, next.source.position(switch.start))
        }
      }
    }

  /** The next leg's start, when the switch from `at` is in the log: the leg before is not asked, as its storage may be gone. */
  private def begun(at: HybridPosition, next: Leg): Option[HybridPosition] =
    switches.find(next).filter(_.end == at.position.json).map { switch =>
      at.switched(next.name, next.source.position(switch.start))
    }

  @tailrec private def limits(at: HybridPosition): Limits.Limited =
    chain.after(chain(at.leg)).flatMap(begun(at, _)) match {
      case Some(next) => limits(next)
      case None       => enumerators(chain(at.leg)).limits(at.position)
    }

  private def own(progress: Position): HybridPosition = progress match {
    case hybrid: HybridPosition => hybrid
    case other                  => HybridPosition.parse(chain, other.json)
  }
}
