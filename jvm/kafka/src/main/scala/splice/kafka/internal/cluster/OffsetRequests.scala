// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.cluster

import java.time.Duration
import java.util.concurrent.{ExecutionException, TimeUnit, TimeoutException => WaitTimeout}

import scala.jdk.CollectionConverters._
import scala.util.Try

import org.apache.kafka.clients.admin.ListOffsetsResult.ListOffsetsResultInfo
import org.apache.kafka.clients.consumer.OffsetAndTimestamp
import org.apache.kafka.common.errors.{RetriableException, TimeoutException, TopicAuthorizationException}
import org.apache.kafka.common.{KafkaFuture, TopicPartition}

import splice.kafka.internal.errors.KafkaErrors
import splice.kafka.internal.split.TopicPartitions
import splice.source.LogPartition
import splice.source.errors.SpliceException

/** Requests one value per partition, such as its end. A partition without a leader does not delay other partitions.
  * Used by one thread.
  *
  * A consumer caches the leaders and needs one round trip per broker, but returns either the offsets of all
  * partitions or no offset. An admin client needs one more round trip, and completes each partition separately. If the
  * consumer returns no offsets soon, the admin client requests the offsets. Such a request runs until the partition
  * responds, and is repeated after a failure. The consumer requests the other partitions during this time.
  *
  * @param name
  *   the name of the offsets in errors
  * @param patience
  *   how long a call waits for each of the two clients
  * @param pause
  *   the time between a failed request and its repetition
  * @param shown
  *   removes secrets from an error of the client
  * @param together
  *   requests all offsets from the consumer, within this time
  * @param each
  *   requests offsets from the admin client
  * @param read
  *   the value in a response of the admin client; None if the partition has no such record
  */
final private[splice] class OffsetRequests[A](
    name: String,
    servers: String,
    patience: Duration,
    pause: Duration,
    shown: Throwable => Throwable
)(
    together: (Set[LogPartition], Duration) => Map[LogPartition, A],
    each: Set[LogPartition] => Map[LogPartition, KafkaFuture[ListOffsetsResultInfo]],
    read: ListOffsetsResultInfo => Option[A]
) {

  private var waiting = Map.empty[LogPartition, KafkaFuture[ListOffsetsResultInfo]]

  // Partitions whose request failed, with the time of the failure (System.nanoTime).
  private var failed = Map.empty[LogPartition, (Long, SpliceException)]

  def apply(partitions: Set[LogPartition]): OffsetAnswers[A] = {
    waiting = waiting.filter { case (p, _) => partitions(p) }
    failed = failed.filter { case (p, _) => partitions(p) }
    val others = partitions -- waiting.keySet -- failed.keySet
    sendAgain()
    val offsets = if (others.isEmpty) Map.empty[LogPartition, A] else soon(others)
    // Partitions that respond must not wait for the other partitions in each call.
    if (offsets.isEmpty) await()
    val (done, open) = waiting.partition { case (_, response) => response.isDone }
    waiting = open
    val responses = done.map { case (p, response) => p -> offset(p, response) }
    failed ++= responses.collect { case (p, Left(error)) => p -> (System.nanoTime() -> error) }
    OffsetAnswers(
      offsets ++ responses.collect { case (p, Right(Some(offset))) => p -> offset },
      failed.map { case (p, (_, error)) => p -> error } ++ open.keysIterator.map(p => p -> silent(p))
    )
  }

  private def sendAgain(): Unit = {
    val now = System.nanoTime()
    val due = failed.collect { case (p, (at, _)) if now - at >= pause.toNanos => p }.toSet
    if (due.nonEmpty) {
      failed --= due
      waiting ++= each(due)
    }
  }

  /** The offsets of the consumer if the consumer responds soon, otherwise the offsets of the admin client. */
  private def soon(partitions: Set[LogPartition]): Map[LogPartition, A] =
    try together(partitions, patience)
    catch {
      case _: TimeoutException | _: TopicAuthorizationException =>
        waiting ++= each(partitions)
        Map.empty
    }

  private def await(): Unit = {
    val end = System.nanoTime() + patience.toNanos
    waiting.valuesIterator.foreach { response =>
      try { val _ = response.get(math.max(end - System.nanoTime(), 0L), TimeUnit.NANOSECONDS) }
      catch { case _: ExecutionException | _: WaitTimeout => () }
    }
  }

  private def offset(
      p: LogPartition,
      response: KafkaFuture[ListOffsetsResultInfo]
  ): Either[SpliceException, Option[A]] =
    Try(read(response.get())).toEither.left.map {
      case e: ExecutionException => failure(p, e.getCause)
      case e                     => throw e
    }

  private def failure(p: LogPartition, cause: Throwable): SpliceException = cause match {
    case e: RetriableException => KafkaErrors.unreachable(servers, s"$name of $p", patience, shown(e))
    case e                     => KafkaErrors.rejected(servers, s"$name of $p", shown(e))
  }

  private def silent(p: LogPartition): SpliceException =
    failure(p, new TimeoutException(s"$p has no leader, or the leader does not respond"))
}

private[splice] object OffsetRequests {

  def offset(found: ListOffsetsResultInfo): Option[Long] = Some(found.offset)

  /** The record in a response to a request for a time. Without such a record, the offset is negative. */
  def timed(found: ListOffsetsResultInfo): Option[TimedOffset] =
    Option.when(found.offset >= 0)(TimedOffset(found.offset, found.timestamp))

  /** The records in a response of the consumer to a request for times. */
  def records(
      offsets: java.util.Map[TopicPartition, OffsetAndTimestamp]
  ): Map[LogPartition, TimedOffset] = offsets.asScala.collect {
    case (p, record) if Option(record).nonEmpty =>
      TopicPartitions.toLog(p) -> TimedOffset(record.offset, record.timestamp)
  }.toMap
}
