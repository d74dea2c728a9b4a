// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.history

import splice.hybrid.internal.chain.Leg
import splice.hybrid.internal.errors.{HandOverErrors, Ranges}
import splice.source.log.OffsetRuns
import splice.source.options.FailOrWarn
import splice.source.{LogPartition, OffsetSummary}

/** Offsets of one log partition in all legs of a history.
  *
  * @param parts
  *   offsets of each leg in chain order; never empty
  */
final private[splice] case class PartitionHistory(partition: LogPartition, parts: Seq[(Leg, OffsetSummary)]) {

  /** Offsets of all legs together. */
  lazy val offsets: OffsetRuns = {
    val all = new OffsetRuns
    parts.foreach(part => all.addAll(part._2.offsets))
    all
  }

  /** First expected offset of the history: 0, or the configured start if the earliest leg reads a log. */
  def from: Long = {
    val (leg, earliest) = parts.minBy(_._2.from)
    if (leg.source.readsLog) earliest.from else 0L
  }

  /** Greatest offset plus one: the start of the log. */
  def until: Long = parts.map(_._2.until).max

  /** Offsets between `after` and `before` that no leg has. */
  def holes(after: Long, before: Long): Iterator[(Long, Long)] =
    if (after < before) offsets.holes(after, before) else Iterator.empty

  /** Number of rows of all legs. A leg that reads a log may have fewer records than offsets. */
  def rows: Long = parts.map(_._2.offsets.rows).sum

  /** Descriptions of duplicate offsets; empty without duplicates. */
  def duplicates: Seq[String] = if (offsets.rows == offsets.count) Nil
  else {
    val within = parts.collect {
      case (leg, part) if part.offsets.rows > part.offsets.count =>
        s"$partition has ${part.offsets.rows} rows of ${part.offsets.count} offsets in '${leg.name}' " +
          s"(${Ranges(part.offsets.repeated)} several times)"
    }
    val between = parts.combinations(2).toSeq.collect { case Seq((a, part), (b, other)) =>
      val both = Ranges(part.offsets.and(other.offsets).ranges)
      // A log leg covers offsets without a record.
      val most = if (a.source.readsLog || b.source.readsLog) "up to " else ""
      Option.unless(both.isEmpty)(
        s"$partition has $most${both.offsets} offsets in both '${a.name}' and '${b.name}' ($both)"
      )
    }
    within ++ between.flatten
  }
}

private[splice] object PartitionHistory {

  /** Combined history of legs, by partition. */
  def of(legs: Seq[LegOffsets]): Seq[PartitionHistory] = {
    val parts = for {
      ofLeg <- legs
      held  <- ofLeg.held
    } yield ofLeg.leg -> held
    parts.groupBy(_._2.partition).toSeq.sortBy(_._1).map { case (p, group) => PartitionHistory(p, group) }
  }

  /** Applies the policy `onDuplicates` of the leg that starts.
    *
    * @param before
    *   the names of the legs of the history
    * @return
    *   warning, if duplicates exist and the policy accepts them
    * @throws splice.source.errors.SpliceException
    *   if duplicates exist and the policy is to fail
    */
  def checkDuplicates(before: Seq[String], leg: Leg, history: Seq[PartitionHistory]): Option[String] = {
    val duplicates = history.flatMap(_.duplicates)
    Option.when(duplicates.nonEmpty)(HandOverErrors.duplicates(before, leg.name, duplicates)).map { error =>
      if (leg.onDuplicates == FailOrWarn.Fail) throw error
      error.text
    }
  }
}

/** Offsets of an ended leg per log partition. */
final private[splice] case class LegOffsets(leg: Leg, held: Seq[OffsetSummary]) {

  /** Gives rows without a topic the only topic of the log.
    *
    * @param topics
    *   topics of the log that `next` reads
    * @throws splice.source.errors.SpliceException
    *   if the log has several topics, or none
    */
  def ofOnly(topics: Seq[String], next: Leg): LegOffsets = topics match {
    case Seq(only) => copy(held = held.map(part => part.copy(partition = part.partition.copy(topic = only))))
    case several   => throw HandOverErrors.notOneTopic(leg, next.name, several)
  }
}
