// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.state

import splice.kafka.dynamic.internal.state.TopicState.Bound
import splice.kafka.internal.split.KafkaPosition

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

  /** Returns the rows between a position and a bound; None without such rows. */
  def of(bound: Bound, left: KafkaPosition, reason: String): Option[Abandoned] = bound match {
    case Bound.Requested | _: Bound.Within =>
      Some(Abandoned(None, s"the number of unread rows is unknown, because $reason"))
    case Bound.At(time) =>
      Some(Abandoned(None, s"the number of unread rows before ${time.time} is unknown, because $reason"))
    case Bound.Ends(ends, _) =>
      val unread = ends.offsets.toSeq.filter { case (p, end) => left.get(p).getOrElse(0L) < end }
      val rows   = unread.map { case (p, end) => end - left.get(p).getOrElse(0L) }.sum
      // A partition without a position was never read, so the number is an upper limit.
      val exact = unread.forall { case (p, _) => left.offsets.contains(p) }
      val parts = unread.map { case (p, end) =>
        s"partition ${p.partition} from ${left.get(p).fold("the start")(_.toString)} up to $end"
      }
      val more = if (parts.size > Shown) s" and ${parts.size - Shown} more partitions" else ""
      Option.when(rows > 0)(Abandoned(
        Some(rows),
        s"${if (exact) "" else "up to "}$rows rows are not read (${parts.take(Shown).mkString(", ")}$more), because $reason"
      ))
  }
}
