// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.enumerator

import java.time.Duration

import scala.collection.immutable.{SortedMap, SortedSet}
import scala.collection.mutable

import org.apache.kafka.common.errors.TopicAuthorizationException

import splice.kafka.internal.cluster.{ClusterClient, DescribedTopic, LogDescription, OffsetAnswers, TimedOffset}
import splice.kafka.internal.errors.KafkaErrors
import splice.kafka.internal.options.Subscription
import splice.source.LogPartition
import splice.source.errors.SpliceException

/** Cluster in memory that responds like brokers and records requests. Responses may be late or stale. */
final class SimulatedLog(subscription: Subscription, @volatile var named: Set[String] = Set.empty)
    extends ClusterClient {

  private val held    = mutable.SortedMap.empty[LogPartition, SimulatedLog.Held]
  private val ids     = mutable.Map.empty[String, Int]
  private var created = 0
  private val stale   = mutable.Queue.empty[Map[LogPartition, Long]]
  private val behind  = mutable.Queue.empty[Map[LogPartition, Long]]
  private val old     = mutable.Queue.empty[LogDescription]
  private val blind   = mutable.Queue.empty[Set[LogPartition]]

  var subscribed: Subscription                 = subscription
  var clusterId: Option[String]                = Some("cluster-a")
  var tellsIds                                 = true
  var away: Option[String => Boolean]          = None
  var leaderless: Set[LogPartition]            = Set.empty
  var forbidden: Set[LogPartition]             = Set.empty
  var unreadable: Set[String]                  = Set.empty
  var commits: Vector[Map[LogPartition, Long]] = Vector.empty

  /** True if commits fail. */
  @volatile var commitsFail: Boolean     = false
  var group: Map[LogPartition, Long]     = Map.empty
  var between: String => Unit            = _ => ()
  var open: Map[LogPartition, Long]      = Map.empty
  val calls: mutable.ArrayBuffer[String] = mutable.ArrayBuffer.empty
  var closed                             = false
  var closing: () => Unit                = () => ()

  def create(topic: String, partitions: Int): Unit = {
    if (!ids.contains(topic)) { created += 1; ids(topic) = created }
    (0 until partitions).foreach(p => held.getOrElseUpdate(LogPartition(topic, p), new SimulatedLog.Held))
  }

  def delete(topic: String): Unit = {
    ids -= topic
    held.keys.filter(_.topic == topic).toSeq.foreach(held.remove)
  }

  /** Appends records with these timestamps. */
  def write(topic: String, partition: Int, millis: Long*): Unit =
    held(LogPartition(topic, partition)).append(millis)

  /** Appends an offset that a search by time finds and that no reader returns, like a transaction marker. */
  def mark(topic: String, partition: Int, millis: Long): Unit = held(LogPartition(topic, partition)).mark(millis)

  def fill(topic: String, partition: Int, count: Int): Unit = write(topic, partition, Seq.fill(count)(0L): _*)

  /** Removes records before an offset. */
  def expire(topic: String, partition: Int, until: Long): Unit = held(LogPartition(topic, partition)).expire(until)

  /** Removes the records at some offsets, which then are like transaction markers. */
  def clear(topic: String, partition: Int, from: Long, until: Long): Unit =
    held(LogPartition(topic, partition)).clear(from, until)

  /** Removes records from an offset on, like an unclean leader election. */
  def truncate(topic: String, partition: Int, end: Long): Unit = held(LogPartition(topic, partition)).truncate(end)

  /** Sets the response to the next request of ends. */
  def answerEnds(ends: Map[LogPartition, Long]): Unit = stale.enqueue(ends)

  /** Sets the response to the next request of ends that include open transactions. */
  def answerWritten(ends: Map[LogPartition, Long]): Unit = behind.enqueue(ends)

  /** Omits these partitions from the next description. */
  def hide(partitions: LogPartition*): Unit = blind.enqueue(partitions.toSet)

  /** Removes all prepared stale responses. */
  def settle(): Unit = {
    stale.clear()
    behind.clear()
    blind.clear()
  }

  def has(partition: LogPartition): Boolean = held.contains(partition)
  def partitions: Set[LogPartition]         = held.keySet.toSet
  def first(partition: LogPartition): Long  = held(partition).first
  def end(partition: LogPartition): Long    = held(partition).end

  /** Sets the next description. */
  def response(description: LogDescription): Unit = old.enqueue(description)

  override def describe(): LogDescription = requested("describe") {
    if (old.isEmpty) describeNow() else old.dequeue()
  }

  private def describeNow(): LogDescription = {
    val hidden  = if (blind.isEmpty) Set.empty[LogPartition] else blind.dequeue()
    val there   = SortedSet.from(held.keySet.filter(subscribed.covers).filterNot(hidden))
    val topics  = there.map(_.topic)
    val missing = SortedSet.from(named.filterNot(topics))
    LogDescription(clusterId, SortedMap.from(idsOf(topics)), there, missing)
  }

  override def earliest(partitions: Set[LogPartition]): Map[LogPartition, Long] =
    requested("earliest") {
      val absent = partitions -- held.keySet
      // Brokers do not respond to such a request before its timeout, so it must not be sent.
      require(absent.isEmpty, s"a request for the first offsets of $absent, which do not exist")
      led(partitions).map(p => p -> held(p).first).toMap
    }

  override def ends(partitions: Set[LogPartition]): Map[LogPartition, Long] = requested("ends")(endsOf(led(partitions)))

  private def endOf(p: LogPartition): Long = held(p).end - open.getOrElse(p, 0L)

  private def endsOf(partitions: Set[LogPartition]): Map[LogPartition, Long] = {
    val now = there(partitions).map(p => p -> endOf(p)).toMap
    if (stale.isEmpty) now else now ++ stale.dequeue().filter { case (p, _) => partitions(p) }
  }

  override def endsSoon(partitions: Set[LogPartition]): OffsetAnswers[Long] = requested("ends") {
    val (found, silent) = partitions.partition(p => held.contains(p) && !fails(p))
    OffsetAnswers(endsOf(found), errors(silent))
  }

  override def earliestSoon(partitions: Set[LogPartition]): OffsetAnswers[Long] = requested("earliest") {
    val (found, silent) = partitions.partition(p => held.contains(p) && !fails(p))
    OffsetAnswers(found.map(p => p -> held(p).first).toMap, errors(silent))
  }

  override def written(partitions: Set[LogPartition]): Map[LogPartition, Long] = requested("written") {
    val now = there(led(partitions)).map(p => p -> held(p).end).toMap
    if (behind.isEmpty) now else now ++ behind.dequeue().filter { case (p, _) => partitions(p) }
  }

  override def atTime(millis: Map[LogPartition, Long]): Map[LogPartition, TimedOffset] = requested("atTime") {
    led(millis.keySet)
    millis.flatMap { case (p, time) => held.get(p).flatMap(_.at(time)).map(p -> _) }
  }

  override def atTimeSoon(millis: Long, partitions: Set[LogPartition]): OffsetAnswers[TimedOffset] =
    requested("atTimeSoon") {
      val (found, silent) = partitions.partition(p => held.contains(p) && !fails(p))
      // Brokers search only records that a reader may read.
      val records = found.iterator.flatMap(p => held(p).at(millis).filter(_.offset < endOf(p)).map(p -> _))
      OffsetAnswers(records.toMap, errors(silent))
    }

  override def firstRecords(ranges: Map[LogPartition, (Long, Long)]): Map[LogPartition, Long] =
    requested("firstRecords") {
      ranges.flatMap { case (p, (from, until)) =>
        held.get(p).flatMap(_.from(from)).map(_.offset).filter(_ < until).map(p -> _)
      }
    }

  override def times(at: Map[LogPartition, Long]): Map[LogPartition, Long] = requested("times") {
    at.flatMap { case (p, offset) =>
      held.get(p).flatMap(_.from(offset)).filter(_.offset == offset).map(r => p -> r.millis)
    }
  }

  override def topicStates(topics: Set[String]): () => Map[String, DescribedTopic] = () =>
    requested("ids") {
      topics.filter(ids.contains).map(t =>
        t -> DescribedTopic(idsOf(Set(t)).get(t), held.keysIterator.count(_.topic == t))
      ).toMap
    }

  override def checkReadable(topics: Set[String]): Unit = topics.find(unreadable).foreach { topic =>
    throw KafkaErrors.rejected("simulated:9092", "access to topics", new RuntimeException(s"no right to read $topic"))
  }

  override def commit(offsets: Map[LogPartition, Long]): Unit = commits :+= offsets
  override def flushCommits(): Boolean                        = !commitsFail

  override def committed(partitions: Set[LogPartition]): Map[LogPartition, Long] =
    requested("committed")(group.filter { case (p, _) => partitions(p) })

  override def close(): Unit = {
    closed = true
    closing()
  }

  private def there(partitions: Set[LogPartition]): Set[LogPartition] = partitions.filter(held.contains)

  /** Returns all partitions, or fails if one has no leader. */
  private def led(partitions: Set[LogPartition]): Set[LogPartition] = {
    errors(partitions.filter(fails)).values.headOption.foreach(throw _)
    partitions
  }

  private def errors(partitions: Set[LogPartition]): Map[LogPartition, SpliceException] =
    partitions.iterator.map(p => p -> (if (forbidden(p)) rejected(p) else unreachable(s"offsets of $p"))).toMap

  private def fails(p: LogPartition): Boolean = leaderless(p) || forbidden(p)

  private def rejected(p: LogPartition): SpliceException =
    KafkaErrors.rejected("simulated:9092", s"offsets of $p", new TopicAuthorizationException(p.topic))

  private def unreachable(what: String): SpliceException =
    KafkaErrors.unreachable("simulated:9092", what, Duration.ofSeconds(1), new RuntimeException("away"))

  private def idsOf(topics: collection.Set[String]): Map[String, String] =
    if (tellsIds) topics.iterator.flatMap(t => ids.get(t).map(id => t -> s"id-$id")).toMap else Map.empty

  private def requested[A](what: String)(response: => A): A = {
    calls += what
    if (away.exists(_(what))) throw unreachable(what)
    val message = response
    between(what)
    message
  }
}

object SimulatedLog {

  final private class Held {
    private var records: Vector[TimedOffset] = Vector.empty
    private var marks                        = Set.empty[Long]
    var first                                = 0L
    var end                                  = 0L

    def append(millis: Seq[Long]): Unit = millis.foreach { time =>
      records :+= TimedOffset(end, time)
      end += 1
    }

    def mark(millis: Long): Unit = {
      marks += end
      append(Seq(millis))
    }

    def expire(until: Long): Unit = {
      first = math.max(first, math.min(until, end))
      records = records.filter(_.offset >= first)
    }

    def truncate(to: Long): Unit = {
      end = to
      records = records.filter(_.offset < to)
    }

    /** Removes the records at some offsets, which then are like transaction markers. */
    def clear(from: Long, until: Long): Unit = records = records.filterNot(r => r.offset >= from && r.offset < until)

    def from(offset: Long): Option[TimedOffset] = records.find(r => r.offset >= offset && !marks(r.offset))

    def at(time: Long): Option[TimedOffset] = records.find(_.millis >= time)
  }
}
