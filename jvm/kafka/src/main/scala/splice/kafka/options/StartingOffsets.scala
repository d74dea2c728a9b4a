// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.options

import scala.collection.immutable.SortedMap

import splice.source.LogPartition

/** Where a source begins, as its options say it: not yet numbers. */
sealed private[splice] trait StartingOffsets extends Product with Serializable

private[splice] object StartingOffsets {

  /** The first record that the log still holds. */
  case object Earliest extends StartingOffsets

  /** The end of the log as it is when the query first starts. */
  case object Latest extends StartingOffsets

  /** What the consumer group has committed; `reset` says what a partition without a committed offset does. */
  final case class Committed(reset: CommittedReset) extends StartingOffsets

  /** An offset for every partition; -1 is latest and -2 earliest.
    *
    * @param isWhole
    *   whether a partition without an offset is an error; it starts like a new one otherwise
    */
  final case class Exact(offsets: SortedMap[LogPartition, Long], isWhole: Boolean = true) extends StartingOffsets

  /** The first record at or after a time, in milliseconds since the epoch. */
  final case class AtTime(millis: Long, none: NoRecordAtTime) extends StartingOffsets

  /** The same with a time for every partition. */
  final case class AtTimes(millis: SortedMap[LogPartition, Long], none: NoRecordAtTime) extends StartingOffsets
}

/** What a partition without a committed offset does. */
sealed private[splice] trait CommittedReset extends Product with Serializable

private[splice] object CommittedReset {
  case object Earliest extends CommittedReset
  case object Latest   extends CommittedReset
  case object Fail     extends CommittedReset
}

/** What a partition does that has no record at or after the wanted time. */
sealed private[splice] trait NoRecordAtTime extends Product with Serializable

private[splice] object NoRecordAtTime {
  case object Error  extends NoRecordAtTime
  case object Latest extends NoRecordAtTime
}
