// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.change

import java.time.Instant

import splice.source.LogPartition

/** Where a time is in the partitions of a topic, as its cluster said.
  *
  * @param asked
  *   when it was asked
  */
final private[dynamic] case class LogPlaces(asked: Instant, partitions: Map[LogPartition, LogPlace])

/** @param first
  *   the first record that is not before the time, if there is one
  * @param end
  *   of the log
  */
final private[dynamic] case class LogPlace(first: Option[Long], end: Long) {
  def offset: Long = first.getOrElse(end)
}
