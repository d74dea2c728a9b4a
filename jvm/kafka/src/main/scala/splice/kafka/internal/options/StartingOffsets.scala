// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.options

import scala.collection.immutable.SortedMap

import splice.source.LogPartition

/** The start of a source in its options, before the start is resolved to offsets. */
sealed private[splice] trait StartingOffsets extends Product with Serializable

private[splice] object StartingOffsets {

  /** The first record of the log. */
  case object Earliest extends StartingOffsets

  /** The end of the log when the query first starts. */
  case object Latest extends StartingOffsets

  /** The committed offsets of the consumer group. `reset` applies to partitions without a committed offset. */
  final case class Committed(reset: OnNoCommittedOffset) extends StartingOffsets

  /** An offset per partition; -1 means latest and -2 earliest.
    *
    * @param isWhole
    *   true if a partition without an offset is an error; otherwise it starts like a new partition
    */
  final case class Exact(offsets: SortedMap[LogPartition, Long], isWhole: Boolean = true) extends StartingOffsets

  /** The first record at or after a time, in milliseconds since the epoch. */
  final case class AtTime(millis: Long, none: NoRecordAtTime) extends StartingOffsets

  /** The first record at or after a time per partition, in milliseconds since the epoch. */
  final case class AtTimes(millis: SortedMap[LogPartition, Long], none: NoRecordAtTime) extends StartingOffsets
}

/** The start or the end of a partition without a committed offset. */
sealed private[splice] trait OnNoCommittedOffset extends Product with Serializable

private[splice] object OnNoCommittedOffset {
  case object Earliest extends OnNoCommittedOffset
  case object Latest   extends OnNoCommittedOffset
  case object Fail     extends OnNoCommittedOffset
}

/** The start of a partition that has no record at or after the requested time. */
sealed private[splice] trait NoRecordAtTime extends Product with Serializable

private[splice] object NoRecordAtTime {
  case object Error  extends NoRecordAtTime
  case object Latest extends NoRecordAtTime
}
