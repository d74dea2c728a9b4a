// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.state

import java.time.Instant

import scala.collection.immutable.SortedMap

import splice.kafka.dynamic.internal.state.TopicState.Bound
import splice.kafka.internal.split.KafkaPosition
import splice.source.LogPartition

/** Rows of a removed topic that Splice does not read.
  *
  * @param rows
  *   their number, or an upper limit if a partition was never read; None if the number is unknown
  * @param text
  *   offsets and reason
  */
final private[dynamic] case class Abandoned(rows: Option[Long], text: String) {

  def and(later: Abandoned): Abandoned =
    Abandoned(for (a <- rows; b <- later.rows) yield a + b, s"$text; ${later.text}")
}

private[dynamic] object Abandoned {

  private val Shown = 5

  /** Returns the rows between a position and a bound; None without such rows.
    *
    * @param last
    *   the last ends of the partitions that the cluster returned, for a bound that is not fixed
    */
  def of(
      bound: Bound,
      left: KafkaPosition,
      reason: String,
      last: KafkaPosition = KafkaPosition.Empty
  ): Option[Abandoned] = bound match {
    case Bound.Ends(ends, _) =>
      val unread = ends.offsets.toSeq.filter { case (p, end) => left.get(p).getOrElse(0L) < end }
      val rows   = unread.map { case (p, end) => end - left.get(p).getOrElse(0L) }.sum
      // A partition without a position was never read, so the number is an upper limit.
      val exact = unread.forall { case (p, _) => left.offsets.contains(p) }
      val parts = unread.map { case (p, end) =>
        s"partition ${p.partition} from ${left.get(p).fold("the start")(_.toString)} up to $end"
      }
      Option.when(rows > 0)(Abandoned(
        Some(rows),
        s"${if (exact) "" else "up to "}$rows rows are not read (${listed(parts)}), because $reason"
      ))
    case other =>
      other.limit match {
        case Bound.Ends(most, _) =>
          // The cluster has not returned an end that may be lower than the limit.
          val open = most.offsets.filter { case (p, end) => left.get(p).forall(_ < end) }
          Option.when(open.nonEmpty)(unknown("", within(left, open), within(last, open), reason, open))
        case Bound.At(time, _) => Some(unknown(s" before ${time.time}", left, last, reason))
        case _                 => Some(unknown("", left, last, reason))
      }
  }

  /** Returns the rows between the end of a drain and its new end, which is lower or has fewer partitions. */
  def of(before: KafkaPosition, end: KafkaPosition, at: KafkaPosition): Option[Abandoned] = {
    val deleted   = before.copy(offsets = before.offsets -- end.offsets.keySet)
    val truncated = before.copy(offsets = before.offsets.filter { case (p, was) => end.get(p).exists(_ < was) })
    // The query still reads the rows up to the new end, or has read rows that were truncated later.
    val left = truncated.copy(offsets = truncated.offsets.transform { (p, _) =>
      math.max(end.offsets.getOrElse(p, 0L), at.offsets.getOrElse(p, 0L))
    })
    (of(Bound.Ends(deleted), at, "these partitions were deleted or recreated") ++
      of(Bound.Ends(truncated), left, "the log was truncated")).reduceOption(_.and(_))
  }

  /** Returns the rows of a topic whose start is unknown.
    *
    * @param time
    *   time of the first row, if a cutover set the start
    */
  def unbegun(time: Option[Instant], reason: String): Abandoned =
    Abandoned(None, s"the number of unread rows from ${time.getOrElse("the start")} is unknown, because $reason")

  /** Returns an unknown number of rows.
    *
    * @param limits
    *   the greatest offsets to which the drain may read
    */
  private def unknown(
      before: String,
      left: KafkaPosition,
      last: KafkaPosition,
      reason: String,
      limits: SortedMap[LogPartition, Long] = SortedMap.empty
  ): Abandoned = {
    val parts = (left.offsets.keySet ++ last.offsets.keySet ++ limits.keySet).toSeq.map { p =>
      val end  = last.get(p).fold("end unknown")(end => s"last end $end")
      val most = limits.get(p).fold("")(most => s", limit $most")
      s"partition ${p.partition} from ${left.get(p).fold("the start")(_.toString)}, $end$most"
    }
    val where = if (parts.isEmpty) "from the start, end unknown" else listed(parts, "; ")
    Abandoned(None, s"the number of unread rows$before is unknown ($where), because $reason")
  }

  private def within(position: KafkaPosition, open: SortedMap[LogPartition, Long]): KafkaPosition =
    position.copy(offsets = position.offsets.filter { case (p, _) => open.contains(p) })

  private def listed(parts: Seq[String], separator: String = ", "): String = {
    val more = if (parts.size > Shown) s" and ${parts.size - Shown} more partitions" else ""
    s"${parts.take(Shown).mkString(separator)}$more"
  }
}
