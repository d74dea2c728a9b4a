// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.simulation.leg

import java.time.Duration

import scala.collection.immutable.{SortedMap, SortedSet}

import splice.kafka.internal.cluster.{ClusterClient, DescribedTopic, LogDescription, TimedOffset}
import splice.kafka.internal.errors.KafkaErrors
import splice.kafka.internal.options.Subscription
import splice.source.LogPartition
import splice.testkit.internal.simulation.{SimulatedCluster, SimulatedPartition}
import splice.testkit.simulation.Life

/** Metadata of a simulated cluster for the Kafka enumerator. In some cases the broker is stale or unavailable.
  *
  * @param lag
  *   maximum number of consecutive stale responses; a query retries more often
  */
final class ClusterMetadata(cluster: SimulatedCluster, subscription: Subscription, life: Life, lag: Int)
    extends ClusterClient {

  private val staleEnds       = new Lag[Map[LogPartition, Long]](life, lag)
  private val stalePartitions = new Lag[SortedSet[LogPartition]](life, lag)

  private var lowest  = Map.empty[LogPartition, Long]
  private var missing = Set.empty[LogPartition]

  /** Begins a run, and discards the responses of the previous run. */
  def startRun(): Unit = {
    lowest = Map.empty
    missing = Set.empty
  }

  /** Lowest end of a partition in the responses of this run; 0 if a response lacked the partition. */
  def lowestEnd(p: LogPartition): Long = if (missing(p)) 0L else lowest.getOrElse(p, Long.MaxValue)

  /** Number of stale responses. */
  def behind: Int = staleEnds.count + stalePartitions.count

  /** Records a possible stale response at random times, independent of requests. */
  life.whenever {
    staleEnds.remember(endsNow)
    stalePartitions.remember(partitionsNow)
  }

  override def describe(): LogDescription = {
    requested("topics")
    val there = stalePartitions.response(partitionsNow)
    missing ++= partitionsNow -- there
    val unknown = subscription match {
      case Subscription.Topics(names) => names.filterNot(name => there.exists(_.topic == name))
      case _                          => SortedSet.empty[String]
    }
    val ids = cluster.topics.filter { case (name, _) => there.exists(_.topic == name) }.map { case (name, t) =>
      name -> t.id
    }
    LogDescription(Some(cluster.id), SortedMap.from(ids), there, unknown)
  }

  override def earliest(partitions: Set[LogPartition]): Map[LogPartition, Long] = {
    requested("earliest")
    logs(partitions).map { case (p, log) => p -> log.earliest }
  }

  override def ends(partitions: Set[LogPartition]): Map[LogPartition, Long] = {
    requested("ends")
    val responded = staleEnds.response(endsNow)
    val ends      = logs(partitions).map { case (p, log) => p -> responded.getOrElse(p, log.earliest) }
    ends.foreach { case (p, end) => lowest += p -> math.min(end, lowest.getOrElse(p, end)) }
    ends
  }

  override def atTime(millis: Map[LogPartition, Long]): Map[LogPartition, TimedOffset] = {
    requested("times")
    logs(millis.keySet).flatMap { case (p, log) =>
      log.firstSince(millis(p)).filter(_.offset < log.stableEnd).map(r => p -> TimedOffset(r.offset, r.timestamp))
    }
  }

  override def firstRecords(ranges: Map[LogPartition, (Long, Long)]): Map[LogPartition, Long] = {
    requested("first records")
    logs(ranges.keySet).flatMap { case (p, log) =>
      val (from, until) = ranges(p)
      val visible       = for {
        offset <- (from until math.min(until, log.stableEnd)).iterator
        record <- log.at(offset)
        if record.id.nonEmpty && !cluster.isAborted(record.transaction)
      } yield offset
      visible.nextOption().map(p -> _)
    }
  }

  override def times(at: Map[LogPartition, Long]): Map[LogPartition, Long] =
    firstRecords(at.map { case (p, offset) => p -> (offset -> (offset + 1)) }).flatMap { case (p, offset) =>
      logs(Set(p))(p).at(offset).map(p -> _.timestamp)
    }

  override def topicStates(topics: Set[String]): () => Map[String, DescribedTopic] = {
    val (own, others) = topics.partition(topic => partitionsNow.exists(_.topic == topic))
    val states        = super.topicStates(own)
    val more          = others.iterator.flatMap { name =>
      cluster.topics.get(name).map(topic => name -> DescribedTopic(Option(topic.id), topic.partitions.size))
    }.toMap
    () => if (own.isEmpty) more else states() ++ more
  }

  override def committed(partitions: Set[LogPartition]): Map[LogPartition, Long] = Map.empty

  override def close(): Unit = ()

  private def partitionsNow: SortedSet[LogPartition] = SortedSet.from(for {
    (name, topic) <- cluster.topics.toSeq
    p             <- topic.partitions.indices
    partition = LogPartition(name, p)
    if subscription.covers(partition)
  } yield partition)

  private def endsNow: Map[LogPartition, Long] = logs(partitionsNow).map { case (p, log) => p -> log.stableEnd }

  private def logs(partitions: Set[LogPartition]): Map[LogPartition, SimulatedPartition] = partitions.flatMap { p =>
    cluster.topics.get(p.topic).flatMap(_.partitions.lift(p.partition)).map(p -> _)
  }.toMap

  private def requested(what: String): Unit = {
    life.step(s"${cluster.id}: request of $what")
    if (!life.isCalm && life.chance.oneIn(250)) throw KafkaErrors.unreachable(cluster.id, what, Duration.ZERO, Away)
  }

  private object Away extends RuntimeException("the broker is unavailable", None.orNull, false, false)
}

/** Source of stale responses, with a limit of consecutive stale responses. */
final private class Lag[A](life: Life, most: Int) {

  private var before: Vector[A] = Vector.empty
  private var inRow             = 0
  private var stale             = 0

  def count: Int = stale

  def remember(now: A): Unit = if (!before.lastOption.contains(now)) before = (before :+ now).takeRight(4)

  def response(now: A): A = {
    val behind = !life.isCalm && inRow < most && before.nonEmpty && life.chance.oneIn(8)
    remember(now)
    if (behind) {
      inRow += 1
      val old = life.chance.oneOf(before)
      if (old != now) {
        stale += 1
        life.note(s"... and a stale broker returns $old")
      }
      old
    } else {
      inRow = 0
      now
    }
  }
}
