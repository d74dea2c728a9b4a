// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.errors

import java.time.{Duration, Instant}
import javax.security.auth.login.LoginException

import scala.collection.immutable.SortedMap

import org.apache.kafka.common.config.ConfigException
import org.apache.kafka.common.errors.{AuthenticationException, CorruptRecordException, TopicAuthorizationException}
import org.apache.kafka.common.{InvalidRecordException, KafkaException}

import splice.kafka.internal.secrets.ClientSecrets
import splice.source.LogPartition
import splice.source.errors.{SpliceException, SpliceOptionException}
import splice.source.internal.ErrorConditions

/** Errors of the Kafka source. */
private[splice] object KafkaErrors {

  private val conditions = new ErrorConditions("splice/kafka/error-conditions.json")

  private val Unreachable  = "SPLICE_KAFKA_CONNECTION.BROKERS_UNAVAILABLE"
  private val Login        = "SPLICE_KAFKA_ACCESS.AUTHENTICATION_FAILED"
  private val Rejected     = "SPLICE_KAFKA.BROKER_ERROR"
  private val MissingTopic = "SPLICE_KAFKA_OPTION.TOPIC_NOT_FOUND"
  private val Stalled      = "SPLICE_KAFKA_CONNECTION.PARTITION_UNAVAILABLE"
  private val OfCluster    = Set(Unreachable, Login, Rejected, MissingTopic, Stalled)

  private val Corrupt = Seq(
    "Received exception when fetching the next record from",
    "Encountered corrupt message when fetching",
    "Record batch for partition"
  )

  /** Error of an option or a client property that a user must not set. */
  def rejectedOption(option: String, reason: String): SpliceOptionException =
    conditions.option("SPLICE_KAFKA_OPTION.OPTION_NOT_ALLOWED", "option" -> option, "reason" -> reason)

  /** Error of offsets or times per partition that name other partitions than the query reads. */
  def partitionsDiffer(
      option: String,
      missing: Iterable[LogPartition],
      unknown: Iterable[LogPartition]
  ): SpliceOptionException =
    conditions.option(
      "SPLICE_KAFKA_OPTION.PARTITIONS_DIFFER",
      "option"  -> option,
      "missing" -> list(missing),
      "unknown" -> list(unknown)
    )

  def unreachable(servers: String, request: String, timeout: Duration, cause: Throwable): SpliceException =
    conditions.error(
      Unreachable,
      cause,
      "servers" -> servers,
      "request" -> request,
      "timeout" -> s"${timeout.toMillis} ms",
      "reason"  -> reason(cause)
    )

  /** True if no name of the bootstrap servers can be resolved. The client has no separate exception type. */
  def isUnresolved(error: Throwable): Boolean = ClientSecrets.chain(error).exists {
    case e: ConfigException => Option(e.getMessage).exists(_.startsWith("No resolvable bootstrap urls"))
    case _                  => false
  }

  def isUnreachable(error: SpliceException): Boolean = error.getCondition == Unreachable

  /** True if the broker rejected the credentials of the client. */
  def isOfLogin(error: SpliceException): Boolean = error.getCondition == Login

  /** True if the cluster is the cause of the error: the cluster does not respond, rejects the request, or has no such
    * topic.
    */
  def isOfCluster(error: SpliceException): Boolean = OfCluster(error.getCondition)

  /** Error of a request that brokers rejected, or of a client that could not be created. */
  def rejected(servers: String, request: String, cause: Throwable): SpliceException = {
    val condition = if (isLogin(cause)) Login else Rejected
    // For a user without the right to describe a topic, a missing topic and a forbidden topic are the same error.
    val hidden = ClientSecrets.chain(cause).exists(_.isInstanceOf[TopicAuthorizationException])
    val text   =
      if (hidden)
        s"${reason(cause).stripSuffix(".")}. Either the right was revoked, or the topic and the right were deleted together."
      else reason(cause)
    conditions.error(condition, cause, "servers" -> servers, "request" -> request, "reason" -> text)
  }

  /** True if the client received records that it cannot decode. Some of these errors have no separate exception type.
    */
  def isCorrupt(error: Throwable): Boolean = ClientSecrets.chain(error).exists {
    case _: CorruptRecordException | _: InvalidRecordException => true
    case e: KafkaException => Corrupt.exists(Option(e.getMessage).getOrElse("").startsWith)
    case _                 => false
  }

  def corrupt(servers: String, cause: Throwable): SpliceException =
    conditions.error("SPLICE_KAFKA_DATA.CORRUPT_RECORD", cause, "servers" -> servers, "reason" -> reason(cause))

  def missingTopics(topics: Iterable[String], servers: String): SpliceException =
    conditions.error(MissingTopic, "topics" -> topics.toSeq.sorted.mkString(", "), "servers" -> servers)

  /** Error of a start without any topic of the checkpoint. */
  def topicsReplaced(topics: Set[String]): SpliceException =
    conditions.error("SPLICE_KAFKA_OPTION.TOPICS_REPLACED", "topics" -> topics.toSeq.sorted.mkString(", "))

  def missingPartitions(partitions: Iterable[LogPartition], servers: String): SpliceException =
    conditions.error("SPLICE_KAFKA_OPTION.PARTITION_NOT_FOUND", "partitions" -> list(partitions), "servers" -> servers)

  /** Error of a bounded source that does not subscribe to partitions that it has not read to their end. */
  def endNotSubscribed(ranges: Seq[MissingRange]): SpliceException =
    conditions.error("SPLICE_KAFKA_OPTION.END_NOT_SUBSCRIBED", "ranges" -> ranges.mkString(", "))

  /** Error of lost records. A warning uses the same text as the error. */
  def dataLoss(reason: String, ranges: Seq[MissingRange]): SpliceException =
    conditions.error("SPLICE_KAFKA_DATA.DATA_LOSS", "reason" -> reason, "ranges" -> MissingRange.listed(ranges))

  /** @param firsts the time of the first record of each partition that has records */
  def timeGap(start: Instant, firsts: Iterable[(LogPartition, Option[Instant])]): SpliceException = {
    val partitions = firsts.toSeq.sortBy(_._1).map { case (p, first) =>
      first.fold(s"$p no longer has records")(time => s"$p begins at $time")
    }.mkString(", ")
    conditions.error("SPLICE_KAFKA_DATA.HAND_OVER_TIME_GAP", "startTime" -> start.toString, "partitions" -> partitions)
  }

  /** @param times the time of the last record before the start of each partition, in milliseconds */
  def untimed(start: Instant, times: SortedMap[LogPartition, Long]): SpliceException = conditions.error(
    "SPLICE_KAFKA_DATA.HAND_OVER_TIMES_INVALID",
    "startTime"  -> start.toString,
    "partitions" -> times.map { case (p, millis) => s"$p has $millis" }.mkString(", ")
  )

  /** Error of starting offsets after the end of the log. A tuple has the partition, the requested offset and the end.
    */
  def ahead(requested: Seq[(LogPartition, Long, Long)]): SpliceException = {
    val text =
      requested.sortBy(_._1).map { case (p, wanted, end) => s"$p: $wanted, but the log ends at $end" }.mkString(", ")
    conditions.error("SPLICE_KAFKA_DATA.START_BEYOND_END_OF_LOG", "partitions" -> text)
  }

  def endBeyond(requested: Seq[(LogPartition, Long, Long)]): SpliceException = {
    val text =
      requested.sortBy(_._1).map { case (p, wanted, end) => s"$p: $wanted, but the log ends at $end" }.mkString(", ")
    conditions.error("SPLICE_KAFKA_OPTION.END_BEYOND_END_OF_LOG", "partitions" -> text)
  }

  /** Error of ranges that start after their end. A tuple has the partition, the start and the end, as offsets or times.
    *
    * @param prefix
    *   the prefix of the options
    */
  def startAfterEnd(requested: Seq[(String, String, String)], prefix: String): SpliceOptionException = {
    val text = requested.map { case (p, start, end) => s"$p begins at $start and ends at $end" }.mkString(", ")
    conditions.option("SPLICE_KAFKA_OPTION.START_AFTER_END", "partitions" -> text, "prefix" -> prefix)
  }

  def noRecordAtTime(partitions: Iterable[(LogPartition, Long)], prefix: String): SpliceOptionException = {
    val text =
      partitions.toSeq.sortBy(_._1).map { case (p, time) => s"$p at ${Instant.ofEpochMilli(time)}" }.mkString(", ")
    conditions.option("SPLICE_KAFKA_OPTION.NO_RECORD_AT_TIME", "partitions" -> text, "prefix" -> prefix)
  }

  def noCommitted(group: String, partitions: Iterable[LogPartition]): SpliceException =
    conditions.error(
      "SPLICE_KAFKA_OPTION.COMMITTED_OFFSET_NOT_FOUND",
      "group"      -> group,
      "partitions" -> list(partitions)
    )

  def otherCluster(expected: String, clusterId: String, servers: String): SpliceException =
    conditions.error(
      "SPLICE_KAFKA_DATA.OTHER_CLUSTER",
      "expected"  -> expected,
      "clusterId" -> clusterId,
      "servers"   -> servers
    )

  def recreated(topics: Iterable[String]): SpliceException =
    conditions.error("SPLICE_KAFKA_DATA.TOPIC_RECREATED", "topics" -> topics.toSeq.sorted.mkString(", "))

  def stalled(partitions: Seq[String], timeout: Duration): SpliceException =
    conditions.error(
      Stalled,
      "partitions" -> partitions.mkString(", "),
      "timeout"    -> s"${timeout.toMillis} ms"
    )

  def timestampOutOfRange(topic: String, partition: Int, offset: Long, millis: Long): SpliceException =
    conditions.error(
      "SPLICE_KAFKA_DATA.TIMESTAMP_OUT_OF_RANGE",
      "partition" -> s"$topic-$partition",
      "offset"    -> offset.toString,
      "timestamp" -> millis.toString
    )

  def unparsable(
      format: String,
      partition: String,
      offset: String,
      schema: String,
      cause: Throwable
  ): SpliceException =
    conditions.error(
      "SPLICE_KAFKA_DATA.INVALID_VALUE",
      cause,
      "partition" -> partition,
      "offset"    -> offset,
      "format"    -> format,
      "schema"    -> schema,
      "reason"    -> reason(cause)
    )

  /** Error of a record that is too far in the future for a batch that ends at one time. */
  def futureTime(partition: LogPartition, offset: Long, time: Instant, maxAhead: Duration): SpliceException =
    conditions.error(
      "SPLICE_ADMISSION.FUTURE_TIME",
      "partition" -> partition.toString,
      "offset"    -> offset.toString,
      "time"      -> time.toString,
      "maxAhead"  -> s"${maxAhead.toMillis} ms"
    )

  /** Error of a record that hides later offsets with earlier times from a search by time.
    *
    * @param hiding
    *   the offset and the time of the record at which the search stops
    * @param hidden
    *   the offset and the time of the next record of the partition
    */
  def timesNotOrdered(
      partition: LogPartition,
      hiding: (Long, Instant),
      hidden: (Long, Instant)
  ): SpliceException = conditions.error(
    "SPLICE_ADMISSION.TIMES_NOT_ORDERED",
    "partition"  -> partition.toString,
    "offset"     -> hiding._1.toString,
    "time"       -> hiding._2.toString,
    "nextOffset" -> hidden._1.toString,
    "nextTime"   -> hidden._2.toString
  )

  def cannotRespond(request: String, reason: String): SpliceException =
    conditions.error("SPLICE_KAFKA_OPTION.HAND_OVER_NOT_SUPPORTED", "request" -> request, "reason" -> reason)

  private def list(partitions: Iterable[LogPartition]): String =
    if (partitions.isEmpty) "none" else partitions.toSeq.sorted.mkString(", ")

  private def isLogin(error: Throwable): Boolean = ClientSecrets.chain(error).exists {
    case _: AuthenticationException | _: LoginException => true
    case _                                              => false
  }

  private def reason(cause: Throwable): String = ClientSecrets.reason(cause)
}
