// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.pool

import scala.collection.mutable

import org.apache.kafka.common.TopicPartition

/** Changes of logs that readers of one JVM have found, so that a later attempt of a task has the same result as the
  * first attempt. A topic has its id, which no other topic has. Thread-safe.
  */
final private[splice] class FoundChanges {

  import FoundChanges._

  private val topics = new mutable.LinkedHashSet[String]
  private val cuts   = mutable.LinkedHashMap.empty[(String, Int), Cut]

  /** True if a reader has found the topic deleted. */
  def isDeleted(id: String): Boolean = synchronized(topics(id))

  def deleted(id: String): Unit = synchronized {
    if (topics.add(id) && topics.size > Remembered) topics.headOption.foreach(topics.remove)
  }

  /** Stores that a log was truncated below the position of a reader. */
  def truncated(id: String, partition: TopicPartition, cut: Cut): Unit = synchronized {
    cuts(id -> partition.partition) = cut
    if (cuts.size > Remembered) cuts.headOption.foreach { case (key, _) => cuts.remove(key) }
  }

  /** The truncation below a position from which a reader continues; None if the position is before the truncation, or if
    * a reader has continued after it.
    */
  def truncation(id: String, partition: TopicPartition, from: Long): Option[Cut] = synchronized {
    cuts.get(id -> partition.partition).filter(cut => cut.first < from && from <= cut.position)
  }
}

private[splice] object FoundChanges {
  private val Remembered = 1000

  /** @param first
    *   the first offset whose record differs
    * @param position
    *   the position of the reader that found the truncation
    */
  final case class Cut(first: Long, position: Long)
}
