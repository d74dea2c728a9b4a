// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.split

import splice.hybrid.internal.chain.{Chain, Leg}
import splice.hybrid.internal.errors.HybridErrors
import splice.hybrid.internal.handover.LegEntries
import splice.source.log.Extent
import splice.source.{Position, SplitRange}

/** Split range of one leg. */
final private[splice] case class LegRange(leg: String, range: SplitRange) extends SplitRange {
  @transient override lazy val splitId: String = s"$leg/${range.splitId}"
  override def weight: Long                    = range.weight
  override def isOpen: Boolean                 = range.isOpen
  override def slotted: Boolean                = range.slotted
  override def preferredHosts: Seq[String]     = range.preferredHosts
  override def extents: Seq[Extent]            = range.extents
  override def cuttable: Boolean               = range.cuttable

  override def pieces(weights: Seq[Long]): Seq[SplitRange] = range.pieces(weights).map(LegRange(leg, _))
}

/** Part of a batch within one leg. */
final private[splice] case class LegSpan(leg: Leg, from: Position, until: Position)

private[splice] object LegSpan {

  /** Spans between two positions, one per leg. Legs without rows to read are omitted.
    *
    * `until` has the end of each leg. The side log has the start of each leg that `from` does not contain.
    *
    * @throws splice.source.errors.SpliceException
    *   if a span is in a leg that was removed from the chain
    */
  def between(chain: Chain, log: LegEntries, from: HybridPosition, until: HybridPosition): Seq[LegSpan] = {
    val needed = until.removed.collect { case (name, end) if !from.text(name).contains(end) => name }
    if (needed.nonEmpty) throw HybridErrors.removedLeg(needed.toSeq, from.json)
    val last = until.current.toSeq
    last.flatMap(chain.between(from.current.getOrElse(chain.first.name), _)).flatMap { leg =>
      val begin = if (from.current.contains(leg.name)) from.position else log.requiredStart(leg)
      val end   = until.position(leg.name)
      if (begin == end) None else Some(LegSpan(leg, begin, end))
    }
  }
}
