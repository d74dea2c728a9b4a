// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.counting

import splice.hybrid.LogColumns
import splice.hybrid.internal.chain.{Chain, Leg}

/** Columns of a leg whose values the rules of later legs need.
  *
  * @param offsets
  *   columns for an exact rule
  * @param time
  *   column for a rule by event time
  * @param areFound
  *   true if the columns for the exact rule are not those of an option, but of a known writer
  */
final private[splice] case class CountedColumns(
    offsets: Option[LogColumns.Named],
    time: Option[String],
    areFound: Boolean = false
) {

  /** True if these columns include the columns of `others`. */
  def contain(others: CountedColumns): Boolean =
    others.time.forall(time.contains) && others.offsets.forall(offsets.contains)
}

private[splice] object CountedColumns {

  /** Columns to count of `leg`; None if no rule needs its rows.
    *
    * @param found
    *   columns of the leg for the rule of a later leg with these columns
    */
  def of(chain: Chain, leg: Leg)(found: (Leg, LogColumns.Named) => LogColumns.Named): Option[CountedColumns] = {
    val next    = chain.after(leg)
    val own     = leg.logColumns.collect { case named: LogColumns.Named => named }
    val offsets = chain.counting(leg).map { case (by, rule) =>
      // The columns of the rule belong to archives.
      if (leg.source.readsLog) LogColumns.OfLog -> false
      else own.map(_ -> false).getOrElse {
        val columns = found(by, rule.columns)
        columns -> (columns != rule.columns)
      }
    }
    // The end of a log has no event times.
    val time = next.flatMap(_.handOver).flatMap(_.timeColumn).filterNot(_ => leg.source.readsLog)
    Option.when(offsets.nonEmpty || time.nonEmpty)(CountedColumns(offsets.map(_._1), time, offsets.exists(_._2)))
  }
}
