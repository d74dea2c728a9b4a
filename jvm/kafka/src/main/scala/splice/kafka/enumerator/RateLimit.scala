// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.enumerator

import scala.collection.immutable.SortedMap

import splice.source.LogPartition

/** Shares the rows that one batch may read among partitions, as Spark's own Kafka source does. */
private[splice] object RateLimit {

  /** How far each partition goes: its part of `rows` is its part of the backlog, at least one row where there is one.
    *
    * @param ranges
    *   from and until of everything that is available
    */
  def apply(rows: Long, ranges: SortedMap[LogPartition, (Long, Long)]): SortedMap[LogPartition, Long] = {
    val total = RateLimit.total(ranges.valuesIterator)
    // Unlike `map`, it compares no partitions.
    ranges.transform { case (_, (from, until)) => part(rows, total, from, until) }
  }

  /** The backlog of ranges. */
  def total(ranges: Iterator[(Long, Long)]): Double = ranges.map { case (from, until) =>
    math.max(until - from, 0L).toDouble
  }.sum

  /** How far one partition goes.
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
