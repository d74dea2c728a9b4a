// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source.internal.legs

import splice.source.{Limits, Position, SplitEnumerator}

/** Number of batches from a position to the end of the available rows.
  *
  * @param isMore
  *   true if there are more than `number` batches, and the count stopped
  * @param until
  *   position after the last batch
  */
final private[splice] case class BatchCount(number: Long, isMore: Boolean, until: Position)

private[splice] object BatchCount {

  /** Maximum number of batches to count. A plan with a higher maximum would take too long. */
  private[splice] val Most = 10000L

  /** Counts the batches of an enumerator whose ends are frozen. The calls of `advance` may send requests and write
    * side-log entries.
    */
  def of(enumerator: SplitEnumerator[Position], from: Position): BatchCount = {
    def next(at: Position) = enumerator.advance(at, enumerator.limits(at).withoutMinimum)
    val ends               = Iterator.iterate(from -> next(from)) { case (_, at) => at -> next(at) }
      .takeWhile { case (before, at) => at != before }
      .map(_._2)
      .take(Most.toInt + 1)
    val (number, last) = ends.foldLeft((0L, from)) { case ((n, _), at) => (n + 1, at) }
    if (number <= Most) BatchCount(number, isMore = false, last)
    else BatchCount(Most, isMore = true, rest(enumerator, last))
  }

  private def rest(enumerator: SplitEnumerator[Position], from: Position): Position =
    Iterator.iterate(from)(enumerator.advance(_, Limits.Everything)).sliding(2).collectFirst {
      case Seq(before, at) if before == at => at
    }.getOrElse(from)
}
