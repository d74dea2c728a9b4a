// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.enumerator

import java.io.InterruptedIOException

import scala.util.control.NonFatal

import org.slf4j.LoggerFactory

import splice.hybrid.internal.chain.{Chain, Leg, LegEnumerators}
import splice.hybrid.internal.handover.LegEntries
import splice.hybrid.internal.split.HybridPosition
import splice.source.Position

/** Commits the end of each ended log leg to its source, for example to a consumer group. A side-log entry per leg
  * records the success. A run may be killed between the last batch of a leg and the commit of its end. A later run
  * then commits the end.
  */
final private[hybrid] class LegCommits(chain: Chain, log: LegEntries, enumerators: LegEnumerators) {

  // Ended legs whose end this run has committed or has tried to commit.
  private var done = Set.empty[String]

  /** True if the end of a leg is not committed yet. */
  def isMissing: Boolean = chain.legs.exists(leg => log.hasEnded(leg) && isOpen(leg))

  /** Commits the ends of the legs before `current`. */
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
      s"Leg '${leg.name}' has ended, but Splice could not commit the end of the leg. The next start of the query repeats the commit."
    try {
      val isDone = enumerators(leg)(_.commitEnd(at))
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
