// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.enumerator

import java.io.InterruptedIOException

import scala.util.control.NonFatal

import org.slf4j.LoggerFactory

import splice.hybrid.internal.chain.{Chain, Leg, LegEnumerators}
import splice.hybrid.internal.handover.LegLog
import splice.hybrid.internal.split.HybridPosition
import splice.source.Position

/** Passes the ends of legs that read a log on to their sources, which commit them to a consumer group, for example. An entry for each leg stores
  * that this succeeded. A run that was killed may have read the last batch of a leg and not passed its end on; then a later run does it.
  */
final private[hybrid] class LegCommits(chain: Chain, log: LegLog, enumerators: LegEnumerators) {

  // The ended legs whose end this run has passed on, or has tried to.
  private var done = Set.empty[String]

  /** Whether the end of a leg is to be passed on. */
  def isMissing: Boolean = chain.legs.exists(leg => log.hasEnded(leg) && isOpen(leg))

  /** Passes on the ends of the legs before `current`. */
  def passOn(until: HybridPosition, current: String): Unit = {
    val ended  = chain.between(chain.first.name, current).filter(leg => leg.name != current && isOpen(leg))
    val passed = ended.filter(leg => isPassedOn(leg, until.position(leg.name)))
    done ++= ended.map(_.name)
    try passed.foreach(leg => log.committed(leg, until.position(leg.name)))
    catch {
      case e: InterruptedIOException => throw e
      case NonFatal(e)               =>
        LegCommits.logger.warn("The next start of the query repeats the last commit of a leg.", e)
    }
  }

  private def isOpen(leg: Leg): Boolean = leg.source.readsLog && !done(leg.name) && !log.isCommitted(leg)

  private def isPassedOn(leg: Leg, at: Position): Boolean = {
    def warning =
      s"Leg '${leg.name}' has ended, and its last commit could not be passed on. The next start of the query repeats it."
    try {
      val isDone = enumerators(leg).commitEnd(at)
      if (!isDone) LegCommits.logger.warn(warning)
      isDone
    } catch {
      case e: InterruptedIOException => throw e
      case NonFatal(e)               =>
        LegCommits.logger.warn(warning, e)
        false
    }
  }
}

private object LegCommits {
  private val logger = LoggerFactory.getLogger(classOf[LegCommits])
}
