// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.options

import scala.collection.immutable.SortedMap

import splice.source.LogPartition

/** The end of a bounded source in its options, before the end is resolved to offsets. */
sealed private[splice] trait EndingOffsets extends Product with Serializable

private[splice] object EndingOffsets {

  /** The end of the log when the query first starts. */
  case object Latest extends EndingOffsets

  /** The committed offsets of the consumer group. `reset` applies to partitions without a committed offset. */
  final case class Committed(reset: OnNoCommittedOffset) extends EndingOffsets

  /** An exclusive offset per partition; -1 means latest. */
  final case class Exact(offsets: SortedMap[LogPartition, Long]) extends EndingOffsets

  /** The first record at or after a time, exclusive. Without such a record, the end of the log. */
  final case class AtTime(millis: Long) extends EndingOffsets

  /** The first record at or after a time per partition, exclusive. Without such a record, the end of the log. */
  final case class AtTimes(millis: SortedMap[LogPartition, Long]) extends EndingOffsets
}
