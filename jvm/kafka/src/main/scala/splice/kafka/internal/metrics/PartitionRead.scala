// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.metrics

import java.util.concurrent.TimeUnit

import splice.kafka.internal.split.KafkaSplitRange
import splice.source.LogPartition
import splice.source.runtime.ProgressMetric

/** The records of a partition that tasks have read.
  *
  * @param millis
  *   the timestamp of the last record
  * @param least
  *   the least timestamp; greater than `greatest` if readers do not report these times
  * @param greatest
  *   the greatest timestamp
  */
final private[splice] case class PartitionRead(rows: Long, bytes: Long, millis: Long, least: Long, greatest: Long) {

  def +(more: PartitionRead): PartitionRead = PartitionRead(
    rows + more.rows,
    bytes + more.bytes,
    math.max(millis, more.millis),
    math.min(least, more.least),
    math.max(greatest, more.greatest)
  )
}

/** The report of tasks: the records of each partition, and figures of readers.
  *
  * @param pollNanos
  *   time that tasks spent in polls
  * @param fetchMillis
  *   time between fetch requests and their responses; polls do not wait for all of this time
  * @param opened
  *   number of readers that were created
  * @param reused
  *   number of readers that were taken from the pool
  * @param filled
  *   number of rows that filled holes of a history
  * @param skipped
  *   number of offsets in planned ranges that a policy skipped
  * @param ends
  *   ends of partitions that are read without an end, as of the last fetch
  * @param unread
  *   offsets in planned ranges that the readers did not read, because a policy skipped them
  */
final private[splice] case class TaskReads(
    partitions: Map[LogPartition, PartitionRead] = Map.empty,
    pollNanos: Long = 0,
    fetchMillis: Long = 0,
    opened: Long = 0,
    reused: Long = 0,
    filled: Long = 0,
    skipped: Long = 0,
    ends: Map[LogPartition, Long] = Map.empty,
    unread: Vector[KafkaSplitRange] = Vector.empty
) {

  def ++(more: TaskReads): TaskReads = TaskReads(
    more.partitions.foldLeft(partitions) { case (all, (p, read)) =>
      all.updated(p, all.get(p).fold(read)(_ + read))
    },
    pollNanos + more.pollNanos,
    fetchMillis + more.fetchMillis,
    opened + more.opened,
    reused + more.reused,
    filled + more.filled,
    skipped + more.skipped,
    ends ++ more.ends,
    unread ++ more.unread
  )

  /** The figures of readers for the query progress. */
  def report: Seq[(String, String)] = Seq(
    ProgressMetric.PollMs        -> TimeUnit.NANOSECONDS.toMillis(pollNanos),
    ProgressMetric.FetchMs       -> fetchMillis,
    ProgressMetric.ReadersOpened -> opened,
    ProgressMetric.ReadersReused -> reused
  ).map { case (name, value) => name -> value.toString }
}

private[splice] object TaskReads {

  /** The figures of one reader when it is closed. */
  def ofReader(pollNanos: Long, fetchMillis: Long, isReused: Boolean): TaskReads = {
    val reused = if (isReused) 1L else 0L
    TaskReads(pollNanos = pollNanos, fetchMillis = fetchMillis, opened = 1L - reused, reused = reused)
  }
}
