// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.tally

import org.slf4j.LoggerFactory

import splice.hybrid.internal.chain.{Chain, Leg}
import splice.hybrid.internal.errors.HandOverErrors
import splice.hybrid.internal.history.{LegOffsets, PartitionHistory}

/** Checks the offsets of a leg against its counting rule. The check runs at every tally and not only at the switch.
  *
  * @param stored
  *   last tally of an earlier leg
  */
final private[splice] class TallyCheck(chain: Chain, stored: Leg => Option[Tally]) {

  private var warned = Set.empty[String]

  /** @throws splice.source.errors.SpliceException
    *   if rows have no valid offset, or if duplicate records exist and the policy is to fail
    */
  def apply(leg: Leg, tally: Tally): Unit = chain.counting(leg).foreach { case (next, _) =>
    val names = tally.columns.offsets.toSeq.flatMap { named =>
      Seq(
        named.offsets.topic.getOrElse("") -> "topic",
        named.offsets.partition           -> "partition",
        named.offsets.offset              -> "offset"
      )
    }
    names.zip(tally.invalid).find(_._2 > 0).foreach { case ((column, role), rows) =>
      throw HandOverErrors.invalidOffsets(leg, next.name, column, role, rows)
    }
    // A user-defined rule receives the duplicates as evidence.
    if (next.exact.nonEmpty) checkDuplicates(leg, tally, next)
  }

  private def checkDuplicates(leg: Leg, tally: Tally, next: Leg): Unit = {
    val earlier =
      chain.history(next).takeWhile(_ != leg).flatMap(past => stored(past).map(t => LegOffsets(past, t.offsets)))
    val history = earlier :+ LegOffsets(leg, tally.offsets)
    PartitionHistory.checkDuplicates(history.map(_.leg.name), next, PartitionHistory.of(history)).foreach { warning =>
      if (!warned(leg.name)) TallyCheck.logger.warn(warning)
      warned += leg.name
    }
  }
}

private object TallyCheck {
  private val logger = LoggerFactory.getLogger(classOf[TallyCheck])
}
