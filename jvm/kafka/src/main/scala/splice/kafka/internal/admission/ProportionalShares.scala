// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.admission

import scala.collection.immutable.SortedMap

import splice.source.LogPartition

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
