// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.admission

import scala.annotation.tailrec

import splice.kafka.internal.cluster.TimedOffset

/** Finds the time at which a batch ends. The batch reads each partition up to its first record at or after this time.
  *
  * The search asks for offsets of whole milliseconds, and keeps the answers: it asks only the partitions whose end
  * differs between the known times around the new time. No object of a search is used by several threads.
  *
  * @param parts
  *   the partitions, with their first and last offsets
  * @param use
  *   the part of the limits that a batch with these ends needs; more than 1 exceeds the limits
  * @param ask
  *   the first record at or after a time of some partitions; None if a partition does not respond
  */
final private[splice] class TimeSearch[K](parts: IndexedSeq[TimeSearch.Part[K]], use: Array[Long] => Double)(
    ask: (Long, Set[K]) => Option[Map[K, TimedOffset]]
) {

  import TimeSearch._

  /** The greatest batch within the limits.
    *
    * @param high
    *   a batch that exceeds the limits
    * @param last
    *   the time at which an earlier batch ended
    * @return
    *   None if a partition does not respond
    */
  def within(high: Cut, last: Option[Last]): Option[Found] = {
    // The first batch shows the distance of the next searches.
    val most = if (last.isEmpty) First else Most

    @tailrec def go(asked: Int, low: Option[Cut], high: Cut, first: Long): Option[Found] = low match {
      case Some(cut) if moves(cut) && (cut.use >= Enough || asked >= most) => Some(Found(cut, first, isDivided = false))
      case Some(cut) if high.time <= cut.quiet + 1                         =>
        Some(if (moves(cut)) Found(cut, first, isDivided = false) else Found(high, first, isDivided = true))
      case None if high.time <= 0 => Some(Found(high, first, isDivided = true))
      case _                      =>
        val time = low.fold(last.fold(0L)(_.before(high.time)))(next(asked, _, high, first))
        cut(time, low, high) match {
          case None                         => None
          case Some(found) if found.use > 1 => go(asked + 1, low, found, first)
          case Some(found) => go(asked + 1, Some(found), high, if (moves(found)) first else found.quiet)
        }
    }
    go(0, None, high, last.fold(0L)(_.time))
  }

  private def moves(cut: Cut): Boolean = parts.indices.exists(i => cut.ends(i) > parts(i).from)

  /** The time of the next question, between the times of two batches. */
  private def next(asked: Int, low: Cut, high: Cut, first: Long): Long = {
    val (least, most) = (low.quiet + 1, high.time - 1)
    val span          = (high.time - low.quiet).toDouble
    val time          =
      if (asked >= Most) least + (most - least) / 2
      else if (moves(low) && low.time > first && asked % 2 == 1)
        low.time + ((Aim - low.use) / low.use * (low.time - first).toDouble).toLong
      else if (!moves(low) && asked == Most - 1) least
      else if (!moves(low) && asked >= Guesses) least + (most - least) / 2
      else if (moves(low) || asked % 2 == 1) least + (span * (Aim - low.use) / (high.use - low.use)).toLong
      else least + math.sqrt(span).toLong
    math.min(math.max(time, least), most)
  }

  private def cut(time: Long, low: Option[Cut], high: Cut): Option[Cut] = {
    def isKnown(i: Int) = parts(i).from >= parts(i).until || isLow(i) || isHigh(i)
    def isLow(i: Int)   = low.exists(_.next(i).millis >= time)
    def isHigh(i: Int)  = low.exists(_.ends(i) == high.ends(i))
    val open            = parts.indices.iterator.filterNot(isKnown).map(parts(_).key).toSet
    val answers         = if (open.isEmpty) Some(Map.empty[K, TimedOffset]) else ask(time, open)
    answers.map { found =>
      val ends = new Array[Long](parts.size)
      val next = new Array[TimedOffset](parts.size)
      parts.indices.foreach { i =>
        val part  = parts(i)
        val known = if (isLow(i)) low else Option.when(isHigh(i))(high)
        known match {
          case _ if part.from >= part.until =>
            ends(i) = part.from
            next(i) = Never
          case Some(cut) =>
            ends(i) = cut.ends(i)
            next(i) = cut.next(i)
          case None =>
            val record = found.get(part.key).filter(_.offset < part.until)
            ends(i) = record.fold(part.until)(r => math.max(r.offset, part.from))
            next(i) = record.fold(Never)(r => if (r.millis < time) r.copy(millis = time) else r)
        }
      }
      new Cut(time, ends, next, use(ends))
    }
  }
}

private[splice] object TimeSearch {

  /** Stands for no record. */
  val Never: TimedOffset = TimedOffset(Long.MaxValue, Long.MaxValue)

  // A batch of this part of the limits is large enough.
  private val Enough = 0.9
  private val Aim    = 0.95

  // The number of questions before the times between two batches are halved, if the earlier batch has no row.
  private val Guesses = 4

  // The number of questions, unless no batch within the limits has a row. One more question precedes the search.
  private val Most  = 7
  private val First = 44

  /** A partition, with its first offset (inclusive) and its last offset (exclusive). */
  final case class Part[K](key: K, from: Long, until: Long)

  /** The batch that ends at a time.
    *
    * @param ends
    *   the end of each partition
    * @param next
    *   the record at which each partition stops; [[Never]] if the batch reads the partition to its last offset
    * @param use
    *   the part of the limits that the batch needs
    */
  final class Cut(val time: Long, val ends: Array[Long], val next: Array[TimedOffset], val use: Double) {

    /** A batch that ends at this time or earlier, but not before [[time]], has the same ends. */
    val quiet: Long = next.foldLeft(Long.MaxValue - 1)((least, record) => math.min(least, record.millis))
  }

  /** The end of an earlier batch, and the time from its first row to its end. */
  final case class Last(time: Long, width: Long) {

    /** The next time to ask, if no batch that ends before `high` is known. */
    def before(high: Long): Long =
      Iterator(time + width, time, time - Steps * width).find(t => t < high && t > 0).getOrElse(0L)
  }

  private val Steps = 64

  /** The result of a search.
    *
    * @param first
    *   a time at or before the first row of the batch
    * @param isDivided
    *   true if the batch exceeds the limits, and an earlier time moves no partition
    */
  final case class Found(cut: Cut, first: Long, isDivided: Boolean) {
    def last: Last = Last(if (isDivided) cut.time - 1 else cut.time, math.max(cut.time - first, 1L))
  }
}
