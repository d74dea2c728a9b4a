// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid

import splice.source.OffsetSummary

/** The offsets that a leg ended with, per log partition. */
final private[splice] case class LegOffsets(leg: Leg, held: Seq[OffsetSummary])
