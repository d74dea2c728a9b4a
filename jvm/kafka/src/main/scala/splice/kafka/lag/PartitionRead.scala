// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.lag

import java.util.concurrent.TimeUnit

import splice.source.{LogPartition, ProgressMetric}

/** What tasks have read of a partition.
  *
  * @param millis
  *   the timestamp of the last record
  */
final private[splice] case class PartitionRead(rows: Long, bytes: Long, millis: Long) {

  def +(more: PartitionRead): PartitionRead =
    PartitionRead(rows + more.rows, bytes + more.bytes, math.max(millis, more.millis))
}

/** What tasks did: what they have read of each partition, and how readers fared.
  *
  * @param pollNanos
  *   spent in polls
  * @param fetchMillis
  *   between fetch requests and their answers, which polls need not wait for
  * @param opened
  *   readers that were made, and `reused` those that were open already
  * @param filled
  *   rows that filled holes of a history
  * @param skipped
  *   offsets of planned ranges that a policy skipped
  * @param ends
  *   of partitions that are read without an end, as of the last fetch
  */
final private[splice] case class TaskReads(
    partitions: Map[LogPartition, PartitionRead] = Map.empty,
    pollNanos: Long = 0,
    fetchMillis: Long = 0,
    opened: Long = 0,
    reused: Long = 0,
    filled: Long = 0,
    skipped: Long = 0,
    ends: Map[LogPartition, Long] = Map.empty
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
    ends ++ more.ends
  )

  /** How readers fared, as the progress tells it. */
  def report: Seq[(String, String)] = Seq(
    ProgressMetric.PollMs        -> TimeUnit.NANOSECONDS.toMillis(pollNanos),
    ProgressMetric.FetchMs       -> fetchMillis,
    ProgressMetric.ReadersOpened -> opened,
    ProgressMetric.ReadersReused -> reused
  ).map { case (name, value) => name -> value.toString }
}

private[splice] object TaskReads {

  /** How one reader fared, at its end. */
  def ofReader(pollNanos: Long, fetchMillis: Long, isReused: Boolean): TaskReads = {
    val reused = if (isReused) 1L else 0L
    TaskReads(pollNanos = pollNanos, fetchMillis = fetchMillis, opened = 1L - reused, reused = reused)
  }
}
