// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.split

import splice.source.SplitRange
import splice.source.log.Extent

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
