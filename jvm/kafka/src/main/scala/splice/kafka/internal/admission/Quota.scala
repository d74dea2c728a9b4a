// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.admission

import scala.collection.immutable.SortedMap

import splice.source.{Limits, LogPartition}

/** The number of rows and bytes that a batch may still read. */
final private[splice] case class Quota(rows: Double, bytes: Double) {

  def fits(rowBytes: Double): Boolean = rows >= 1 && bytes >= rowBytes

  def less(count: Double, rowBytes: Double): Quota = Quota(rows - count, bytes - count * rowBytes)

  /** The part of the quota that rows need; more than 1 exceeds the quota. A single row never does. */
  def part(count: Double, size: Double): Double =
    if (count <= 1) math.min(1.0, math.max(count / rows, size / bytes)) else math.max(count / rows, size / bytes)

  /** Shares the quota. Each backlog gets one row. Then all backlogs get rows in proportion to their rates, until all
    * backlogs are empty or the quota is used up.
    *
    * The method is pure. Only the first row may exceed the quota, so that each batch makes progress.
    *
    * @param backlogs
    *   in the order in which they get their first rows, and the rows that cannot be divided
    * @return
    *   the rows of each backlog
    */
  def share(backlogs: IndexedSeq[Backlog]): Array[Long] = {
    val parts = new Array[Long](backlogs.size)
    val first = firstRows(backlogs, parts)
    if (parts.lastOption.contains(1L)) {
      val second = backlogs.indices.foldLeft(first)(give(backlogs, parts, level(backlogs, first)))
      var left   = second
      backlogs.indices.foreach { i =>
        if (parts(i) < backlogs(i).rows && left.fits(backlogs(i).rowBytes)) {
          parts(i) += 1
          left = left.less(1, backlogs(i).rowBytes)
        }
      }
    }
    parts
  }

  // The first partition always gets one row, even over the quota. The order rotates, so every partition is first within
  // a few batches.
  private def firstRows(backlogs: IndexedSeq[Backlog], parts: Array[Long]): Quota = {
    val served = backlogs.indices.iterator.scanLeft(this)((left, i) => left.less(1, backlogs(i).rowBytes))
      .zip(backlogs.indices.iterator)
      .takeWhile { case (left, i) => i == 0 || left.fits(backlogs(i).rowBytes) }
      .map(_._2)
      .size
    backlogs.indices.take(served).foreach(parts(_) = 1L)
    backlogs.take(served).foldLeft(this)((left, b) => left.less(1, b.rowBytes))
  }

  private def give(backlogs: IndexedSeq[Backlog], parts: Array[Long], level: Double)(left: Quota, i: Int): Quota = {
    val more = math.min((backlogs(i).rows - 1).toDouble, level * backlogs(i).rate).toLong
    parts(i) += more
    left.less(more.toDouble, backlogs(i).rowBytes)
  }

  /** The greatest number of rows per unit of rate within the quota. */
  private def level(backlogs: IndexedSeq[Backlog], left: Quota): Double = {
    def within(budget: Double, price: Backlog => Double): Double = {
      // Backlogs fill up one after another as the level rises. `full` is the use of the backlogs below the level.
      val byLevel = backlogs.sortBy(b => (b.rows - 1) / b.rate)
      var full    = 0.0
      var open    = backlogs.iterator.map(b => b.rate * price(b)).sum
      val reached = byLevel.iterator.map { b =>
        val height = (b.rows - 1) / b.rate
        val before = (full, open)
        full += (b.rows - 1) * price(b)
        open -= b.rate * price(b)
        (height, before)
      }.find { case (height, (full, open)) => full + open * height > budget }
      reached.fold(Double.PositiveInfinity) { case (_, (full, open)) => math.max(0.0, (budget - full) / open) }
    }
    math.min(within(left.rows, _ => 1.0), within(left.bytes, _.rowBytes))
  }
}

private[splice] object Quota {

  val Unlimited: Quota = Quota(Double.MaxValue, Double.MaxValue)

  def of(limits: Limits): Quota =
    Quota(limits.rows.fold(Unlimited.rows)(_.toDouble), limits.bytes.fold(Unlimited.bytes)(_.toDouble))
}

/** The backlog of one partition. `rate` is its part compared with the other partitions. */
final private[splice] case class Backlog(rows: Long, rowBytes: Double, rate: Double)

/** Shares the rows of a batch among partitions, as Spark's Kafka source does. */
private[splice] object ProportionalShares {

  /** The end of each partition in the batch. A partition gets a share of `rows` in proportion to its backlog, and at
    * least one row if the partition has a backlog.
    *
    * @param ranges
    *   the start and the end of each available range
    */
  def apply(rows: Long, ranges: SortedMap[LogPartition, (Long, Long)]): SortedMap[LogPartition, Long] = {
    val total = ProportionalShares.total(ranges.valuesIterator)
    // Unlike `map`, `transform` compares no partitions.
    ranges.transform { case (_, (from, until)) => part(rows, total, from, until) }
  }

  /** The number of offsets in ranges. */
  def total(ranges: Iterator[(Long, Long)]): Double = ranges.map { case (from, until) =>
    math.max(until - from, 0L).toDouble
  }.sum

  /** The end of one partition in the batch.
    *
    * @param total
    *   the backlog of all partitions
    */
  def part(rows: Long, total: Double, from: Long, until: Long): Long =
    if (until <= from || total <= rows) until
    else {
      val share = rows * ((until - from) / total)
      val whole = if (share < 1) 1L else share.toLong
      if (until - from <= whole) until else from + whole
    }
}
