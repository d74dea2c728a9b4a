// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.enumerator

import java.time.Clock

import scala.annotation.tailrec

/** Reads every partition up to the same time, the latest that a batch's quota allows.
  *
  * No call says the time of the next unread record, but brokers find the first record since a time, so the time is searched for: each
  * question is one round trip a broker for all partitions. While the query catches up, the last batch's time and the rows on both sides of it
  * are a good guess, so few questions are needed; none is asked when everything fits.
  */
final private[enumerator] class OldestFirst(log: LogMetadata, clock: Clock) {

  import OldestFirst._

  private var last: Option[Long] = None

  /** Rows for each. */
  def share(quota: Quota, behind: IndexedSeq[Behind]): Array[Long] = {
    val all = behind.map(_.rows)
    if (used(quota, behind, all) <= 1) all.toArray
    else {
      val (before, after) = search(quota, behind, all)
      last = Some(before.millis)
      // One row each comes first, since a record from the future must not hold up its partition for ever.
      val first = quota.share(behind.indices.map { i =>
        val rows = math.max(before.rows(i), 1L)
        Backlog(rows, behind(i).rowBytes, rows.toDouble)
      })
      val left = behind.indices.foldLeft(quota)((left, i) => left.less(first(i).toDouble, behind(i).rowBytes))
      val open = behind.indices.filter(i => first(i) > 0 && after.rows(i) > first(i))
      if (open.nonEmpty && open.forall(i => left.fits(behind(i).rowBytes))) {
        val more = left.share(open.map(i => Backlog(after.rows(i) - first(i), behind(i).rowBytes, 1.0)))
        open.indices.foreach(j => first(open(j)) += more(j))
      }
      first
    }
  }

  /** Two times close to each other: what lies before the first fits, what lies before the second does not. */
  private def search(quota: Quota, behind: IndexedSeq[Behind], all: IndexedSeq[Long]): (Cut, Cut) = {
    def made(millis: Long, rows: IndexedSeq[Long]) = Cut(millis, rows, used(quota, behind, rows))
    def cut(millis: Long): Cut                     = {
      val found = log.atTime(behind.iterator.map(_.partition -> millis).toMap)
      made(
        millis,
        behind.map(b => found.get(b.partition).fold(b.rows)(r => math.min(math.max(r.offset - b.from, 0L), b.rows)))
      )
    }
    val now = clock.millis()

    @tailrec def below(guesses: List[Long], above: Cut): (Cut, Cut) = guesses match {
      case Nil           => (made(0L, all.map(_ => 0L)), above)
      case guess :: more =>
        val here = cut(guess)
        if (here.used <= 1) (here, above) else below(more.filter(_ < guess), here)
    }

    @tailrec def between(low: Cut, high: Cut, left: Int): (Cut, Cut) =
      if (left == 0 || high.millis - low.millis <= 1 || low.used >= Enough) (low, high)
      else {
        val share = (1 - low.used) / (high.used - low.used)
        val span  = high.millis - low.millis
        val step  = (span * math.min(math.max(share, Edge), 1 - Edge)).toLong
        val here  = cut(low.millis + math.min(math.max(step, 1L), span - 1))
        if (here.used <= 1) between(here, high, left - 1) else between(low, here, left - 1)
      }

    val (low, high) = below((last.filter(_ < now).toList ++ Back.map(now - _)).distinct, made(now, all))
    between(low, high, Questions)
  }

  /** What part of the quota some rows are. */
  private def used(quota: Quota, behind: IndexedSeq[Behind], rows: IndexedSeq[Long]): Double = math.max(
    rows.iterator.map(_.toDouble).sum / quota.rows,
    rows.indices.iterator.map(i => rows(i) * behind(i).rowBytes).sum / quota.bytes
  )
}

private[enumerator] object OldestFirst {

  /** How far back to look for a time before which all fits: a second, then 4 times as far each time, up to decades. */
  private val Back = List.iterate(1000L, 16)(_ * 4)

  /** How often the time is asked for more exactly. */
  private val Questions = 6

  /** What part of the quota is near enough. */
  private val Enough = 0.9

  /** No guess is closer to an end of the span than this part of it. */
  private val Edge = 0.05

  /** How many rows of each partition lie before a time, and what part of the quota they are. */
  final private case class Cut(millis: Long, rows: IndexedSeq[Long], used: Double)
}
