// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.history

import splice.hybrid.internal.chain.Leg
import splice.source.OffsetSummary

/** Offsets of an ended leg per log partition. */
final private[splice] case class LegOffsets(leg: Leg, held: Seq[OffsetSummary])
