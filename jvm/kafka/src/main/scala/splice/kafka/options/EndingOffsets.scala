// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.options

import scala.collection.immutable.SortedMap

import splice.source.LogPartition

/** Where a bounded source ends, as its options say it: not yet numbers. */
sealed private[splice] trait EndingOffsets extends Product with Serializable

private[splice] object EndingOffsets {

  /** The end of the log as it is when the query first starts. */
  case object Latest extends EndingOffsets

  /** What the consumer group has committed; `reset` says what a partition without a committed offset does. */
  final case class Committed(reset: CommittedReset) extends EndingOffsets

  /** The offset, itself excluded, for every partition; -1 is latest. */
  final case class Exact(offsets: SortedMap[LogPartition, Long]) extends EndingOffsets

  /** The first record at or after a time, itself excluded, else the end of the log. */
  final case class AtTime(millis: Long) extends EndingOffsets

  /** The same with a time for every partition. */
  final case class AtTimes(millis: SortedMap[LogPartition, Long]) extends EndingOffsets
}
