// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.life.cluster

import java.util.concurrent.atomic.AtomicBoolean

import scala.collection.immutable.{SortedMap, SortedSet}

import splice.kafka.internal.cluster.{ClusterClient, DescribedTopic, LogDescription, TimedOffset}
import splice.source.LogPartition

/** Client of a simulated cluster.
  *
  * @param subscribed
  *   topics of the client
  * @param comparesPartitions
  *   true if a response with the states of topics contains new partitions; false for a planted fault
  */
final private[dynamic] class LifeLog(
    cluster: LifeCluster,
    subscribed: collection.Set[String],
    comparesPartitions: Boolean
) extends ClusterClient {

  private val isClosed = new AtomicBoolean
  cluster.open()

  override def describe(): LogDescription = request("describe") {
    val partitions = SortedSet.from(cluster.partitions(subscribed))
    val topics     = partitions.map(_.topic)
    val ids        = SortedMap.from(topics.iterator.flatMap(t => cluster.topic(t).map(t -> _.id)))
    LogDescription(Some(cluster.id), ids, partitions, SortedSet.from(subscribed.iterator.filterNot(topics)))
  }

  override def earliest(partitions: Set[LogPartition]): Map[LogPartition, Long] =
    request("earliest")(existing(partitions)((_, _) => 0L))

  override def ends(partitions: Set[LogPartition]): Map[LogPartition, Long] =
    request("ends")(existing(partitions)((_, log) => cluster.faults.end(log.size.toLong)))

  override def written(partitions: Set[LogPartition]): Map[LogPartition, Long] =
    request("written")(existing(partitions)((_, log) => log.size.toLong))

  override def atTime(millis: Map[LogPartition, Long]): Map[LogPartition, TimedOffset] = request("atTime") {
    for {
      (p, time) <- millis
      log       <- cluster.log(p)
      row       <- log.find(_.millis >= time)
    } yield p -> TimedOffset(row.offset, row.millis)
  }

  override def firstRecords(ranges: Map[LogPartition, (Long, Long)]): Map[LogPartition, Long] =
    request("firstRecords") {
      ranges.collect { case (p, (from, until)) if cluster.log(p).exists(_.size > from) && from < until => p -> from }
    }

  override def times(at: Map[LogPartition, Long]): Map[LogPartition, Long] = request("times") {
    at.flatMap { case (p, offset) =>
      cluster.log(p).flatMap(_.lift(offset.toInt)).map(row => p -> row.millis)
    }
  }

  override def committed(partitions: Set[LogPartition]): Map[LogPartition, Long] = request("committed")(Map.empty)

  override def topicStates(topics: Set[String]): () => Map[String, DescribedTopic] = { () =>
    request("ids")(topics.flatMap(name =>
      cluster.topic(name).map { topic =>
        name -> DescribedTopic(Some(topic.id), if (comparesPartitions) topic.partitions.size else 0)
      }
    ).toMap)
  }

  override def close(): Unit = if (isClosed.compareAndSet(false, true)) cluster.close()

  private def existing(partitions: Set[LogPartition])(
      value: (LogPartition, collection.IndexedSeq[LifeRow]) => Long
  ): Map[LogPartition, Long] = partitions.flatMap(p => cluster.log(p).map(log => p -> value(p, log))).toMap

  private def request[A](name: String)(response: => A): A = {
    cluster.faults.before(name)
    val computed = cluster.synchronized(response)
    cluster.faults.after(name)
    computed
  }
}
