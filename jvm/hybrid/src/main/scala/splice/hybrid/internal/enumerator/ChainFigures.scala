// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.enumerator

import scala.collection.immutable.SortedMap
import scala.util.Try

import splice.hybrid.internal.chain.{Chain, LegEnumerators}
import splice.hybrid.internal.handover.LegEntries
import splice.hybrid.internal.plan.RetentionMargin
import splice.hybrid.internal.split.HybridPosition
import splice.source.internal.legs.RunTotals
import splice.source.runtime.ProgressMetric

/** Figures of a chain in the query progress. Used by one thread. */
final private[enumerator] class ChainFigures(
    chain: Chain,
    log: LegEntries,
    enumerators: LegEnumerators,
    margin: RetentionMargin
) {

  private val totals = new RunTotals

  // The switches before this run, of the first position that it has.
  private var before = Option.empty[Int]

  /** Notes the first position of this run. */
  def see(at: HybridPosition): Unit = before = before.orElse(Some(switches(at)))

  def apply(at: HybridPosition): SortedMap[String, String] = {
    see(at)
    val number  = switches(at) - before.getOrElse(0)
    val ofChain = at.current.toSeq.flatMap { leg =>
      Seq(ProgressMetric.Leg -> leg, ProgressMetric.Switches -> number.toString)
    }
    val own =
      at.current.flatMap(enumerators.ifOpen(_)(_.figures(at.position))).getOrElse(SortedMap.empty[String, String])
    val delay = Option.when(number > 0)(at.current.flatMap(leg => log.switch(chain(leg))).flatMap(_.delay)).flatten
    val age   = margin.age.map(ProgressMetric.OldestRecordAge -> _.toMillis.toString)
    own ++ totals(at.current.map(_ -> own)) ++ ofChain ++ age ++ delay.map(least =>
      ProgressMetric.DelayNeeded ->
        own.get(ProgressMetric.DelayNeeded).flatMap(text => Try(text.toLong).toOption).fold(least)(math.max(
          _,
          least
        )).toString
    )
  }

  private def switches(at: HybridPosition): Int = at.current.fold(0)(leg => at.removed.size + chain.index(leg))
}
