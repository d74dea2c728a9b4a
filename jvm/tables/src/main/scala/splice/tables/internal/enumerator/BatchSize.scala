// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.tables.internal.enumerator

import scala.annotation.tailrec

/** Number of slices of a batch whose size fits a limit. */
private[tables] object BatchSize {

  // Each further question needs a plan.
  private val Questions = 4

  /** Returns the number after the last slice, and the answer for it. The batch has at least one slice. A batch with half
    * of the limit is large enough.
    *
    * @param expected
    *   expected size of one slice, from the last batch
    * @param size
    *   answers the size of the slices up to a number; called at most five times
    */
  def choose[A](from: Int, end: Int, limit: BigInt, expected: Option[BigInt])(size: Int => A)(bytes: A => BigInt)
      : (Int, A) = {
    def guess(perSlice: BigInt) = from + (limit / perSlice.max(1)).min(end - from).toInt

    @tailrec def search(candidate: Int, fits: Option[(Int, A)], tooLarge: Int, left: Int): (Int, A) = {
      val answer = size(candidate)
      val isFit  = candidate == from + 1 || bytes(answer) <= limit
      val known  = if (isFit) Some(candidate -> answer) else fits
      val bound  = if (isFit) tooLarge else candidate
      val low    = known.fold(from + 1)(_._1 + 1)
      known match {
        case Some(found) if low >= bound || left == 0 || bytes(found._2) * 2 >= limit => found
        case None if left <= 1 => search(from + 1, None, bound, 0)
        case _ => search(guess(bytes(answer) / (candidate - from)).min(bound - 1).max(low), known, bound, left - 1)
      }
    }
    search(expected.fold(end)(guess).max(from + 1), None, end + 1, Questions)
  }
}
