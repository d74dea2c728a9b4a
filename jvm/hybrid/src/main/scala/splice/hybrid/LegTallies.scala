// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid

import splice.source._

/** The offsets of legs that have ended, for the exact hand-over of a later leg. An entry is durable before the next leg begins,
  * because the storage of an ended leg may be removed.
  */
final private[hybrid] class LegTallies(log: SideLog, chain: Chain) {

  /** Stores the offsets of a leg that has ended, if a later leg counts them.
    *
    * @throws SpliceException
    *   when the leg cannot tell its offsets
    */
  def keep(leg: Leg, end: EndState): Unit = chain.counting(leg).foreach { case (next, rule) =>
    val _ = log.getOrCreate(key(leg))(TallyFormat.write(leg, ask(leg, next, rule, end)))
  }

  /** The offsets of the legs that the exact hand-over of `leg` counts. */
  def before(leg: Leg): Seq[LegOffsets] = chain.history(leg).map { one =>
    val lines = log.get(key(one)).getOrElse {
      throw CheckpointErrors.missingEntry(s"The side-log entry '${key(one)}'")
    }
    LegOffsets(one, TallyFormat.read(key(one), lines))
  }

  private def ask(leg: Leg, next: Leg, rule: HandOver.Offsets, end: EndState): Seq[OffsetSummary] =
    if (chain.after(leg).contains(next)) end.offsets(rule.columns)
    else
      try end.offsets(if (leg.source.readsLog) LegTallies.OfLog else rule.columns)
      catch { case e: SpliceException => throw HandOverErrors.noOffsets(leg.name, next.name, e) }

  private def key(leg: Leg): String = s"tally-${chain.index(leg.name)}"
}

private[hybrid] object LegTallies {

  // The columns of the rule are those of the archives between the log and the leg that takes over.
  private val OfLog = OffsetColumns("topic", "partition", "offset")
}
