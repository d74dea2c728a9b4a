// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.enumerator

import splice.kafka.enumerator.{LogDescription, LogMetadata, TimedOffset}
import splice.source.LogPartition

/** Asks each cluster about its own records of a time, all at once; partitions are named with their cluster. Nothing else can be
  * asked.
  */
final private[dynamic] class ClusterTimes(workers: ClusterWorkers) extends LogMetadata {

  override def atTime(millis: Map[LogPartition, Long]): Map[LogPartition, TimedOffset] = {
    val asked = for {
      (cluster, some) <- millis.groupBy(_._1.topic.takeWhile(_ != '/'))
      worker          <- workers.find(cluster)
    } yield cluster -> worker.ahead(
      _.atTime(some.map { case (p, time) => p.copy(topic = p.topic.drop(cluster.length + 1)) -> time })
    )
    asked.flatMap { case (cluster, answer) =>
      answer().map { case (p, found) => ClusterSharing.qualified(cluster, p) -> found }
    }
  }

  override def describe(): LogDescription = refuse

  override def earliest(partitions: Set[LogPartition]): Map[LogPartition, Long] = refuse

  override def ends(partitions: Set[LogPartition]): Map[LogPartition, Long] = refuse

  override def committed(partitions: Set[LogPartition]): Map[LogPartition, Long] = refuse

  override def close(): Unit = ()

  private def refuse: Nothing = throw new UnsupportedOperationException("several clusters are asked about times only")
}
