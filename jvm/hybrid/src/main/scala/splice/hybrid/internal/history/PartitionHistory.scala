// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.history

import splice.hybrid.internal.chain.{Leg, OnDuplicates}
import splice.hybrid.internal.errors.{HandOverErrors, Ranges}
import splice.source.log.OffsetRuns
import splice.source.{LogPartition, OffsetSummary}

/** The offsets of one log partition that several legs have together.
  *
  * @param parts
  *   what each of the legs has, in the order of the chain; never empty
  * @param last
  *   the row with the greatest offset of all legs that have such a row
  */
final private[splice] case class PartitionHistory(
    partition: LogPartition,
    parts: Seq[(Leg, OffsetSummary)],
    last: Option[LastRecord] = None
) {

  /** The offsets of all legs. */
  lazy val offsets: OffsetRuns = {
    val all = new OffsetRuns
    parts.foreach(part => all.addAll(part._2.offsets))
    all
  }

  /** The first offset that the history should have: 0, or the start of a log that was read, which is the choice of its options. */
  def from: Long = {
    val (leg, earliest) = parts.minBy(_._2.from)
    if (leg.source.readsLog) earliest.from else 0L
  }

  /** One past the greatest offset: where the log takes over. */
  def until: Long = parts.map(_._2.until).max

  /** The offsets that no leg has, between two offsets. */
  def holes(after: Long, before: Long): Iterator[(Long, Long)] =
    if (after < before) offsets.holes(after, before) else Iterator.empty

  /** How many rows the legs have. A log that was read may have fewer records than offsets. */
  def rows: Long = parts.map(_._2.offsets.rows).sum

  /** The offsets that are there several times, in words; none if there are none. */
  def duplicates: Seq[String] = if (offsets.rows == offsets.count) Nil
  else {
    val within = parts.collect {
      case (leg, own) if own.offsets.rows > own.offsets.count =>
        s"$partition has ${own.offsets.rows} rows of ${own.offsets.count} offsets in '${leg.name}' " +
          s"(${Ranges(own.offsets.repeated)} several times)"
    }
    val between = parts.combinations(2).toSeq.collect { case Seq((a, one), (b, other)) =>
      val both = Ranges(one.offsets.and(other.offsets).ranges)
      // A log has no record at some offsets that were read.
      val most = if (a.source.readsLog || b.source.readsLog) "up to " else ""
      Option.unless(both.isEmpty)(
        s"$partition has $most${both.offsets} offsets in both '${a.name}' and '${b.name}' ($both)"
      )
    }
    within ++ between.flatten
  }
}

private[splice] object PartitionHistory {

  /** What legs have together, by partition. */
  def of(legs: Seq[LegOffsets]): Seq[PartitionHistory] = {
    val parts = for {
      one  <- legs
      held <- one.held
    } yield one.leg -> held
    parts.groupBy(_._2.partition).toSeq.sortBy(_._1).map { case (p, own) =>
      PartitionHistory(p, own, legs.flatMap(_.last.get(p)).maxByOption(_.offset))
    }
  }

  /** Applies `onDuplicates` of the leg that takes over.
    *
    * @param before
    *   the names of the legs of the history
    * @return
    *   the warning, if there are duplicates and the policy accepts them
    * @throws splice.source.errors.SpliceException
    *   if there are duplicates and the policy is to fail
    */
  def checkDuplicates(before: Seq[String], leg: Leg, history: Seq[PartitionHistory]): Option[String] = {
    val found = history.flatMap(_.duplicates)
    Option.when(found.nonEmpty)(HandOverErrors.duplicates(before, leg.name, found)).map { error =>
      if (leg.onDuplicates == OnDuplicates.Fail) throw error
      error.getMessage
    }
  }
}
