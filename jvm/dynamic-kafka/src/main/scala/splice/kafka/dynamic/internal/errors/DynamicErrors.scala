// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.errors

import splice.kafka.dynamic.internal.change.Rejection
import splice.kafka.dynamic.internal.options.DynamicOptions
import splice.kafka.dynamic.internal.split.{ClusterTopic, DynamicSplitRange}
import splice.kafka.internal.options.PolicyOptions
import splice.source.errors.{SpliceError, SpliceException}
import splice.source.internal.ErrorConditions

/** Errors of the Kafka source of many clusters. */
private[dynamic] object DynamicErrors {

  private[errors] val conditions = new ErrorConditions("splice/kafka/dynamic/error-conditions.json")

  /** The metadata document is rejected. */
  def rejected(rejection: Rejection): SpliceException = rejection match {
    case Rejection.Older(applied, found) =>
      conditions.error(
        "SPLICE_METADATA.STALE_GENERATION",
        "generation"        -> found.toString,
        "appliedGeneration" -> applied.toString
      )
    case Rejection.Empty(all) => conditions.error("SPLICE_METADATA.EMPTY_DOCUMENT", "total" -> all.toString)
    case Rejection.TooMany(removed, all, most) =>
      conditions.error(
        "SPLICE_METADATA.REMOVAL_LIMIT_EXCEEDED",
        "removed" -> removed.toString,
        "total"   -> all.toString,
        "limit"   -> most.toString
      )
    case Rejection.Twice(topic, streams) =>
      conditions.error(
        "SPLICE_METADATA.TOPIC_IN_SEVERAL_STREAMS",
        "topic"   -> topic.toString,
        "streams" -> streams.sorted.mkString(", ")
      )
    case Rejection.Cutover(stream, why) =>
      conditions.error("SPLICE_METADATA.CUTOVER_REJECTED", "stream" -> stream, "reason" -> why)
    case invalid: Rejection.Invalid => invalid.error
  }

  /** An option of one cluster matches several clusters of the metadata. */
  def ambiguous(clusters: Seq[String], option: String): SpliceException =
    conditions.error(
      "SPLICE_METADATA.AMBIGUOUS_CLUSTER_NAME",
      "clusters" -> clusters.mkString(" and "),
      "option"   -> option
    )

  /** The metadata removed topics, and `onRemoved` is `fail`. */
  def removed(topics: Iterable[ClusterTopic]): SpliceException =
    conditions.error("SPLICE_DYNAMIC_KAFKA.TOPIC_REMOVED", "topics" -> topics.toSeq.sorted.mkString(", "))

  /** An open-ended batch would begin before rows of topics that later changes removed.
    *
    * @param passed
    *   the ranges of these rows
    */
  def rejectPassed(passed: Seq[DynamicSplitRange]): Unit = if (passed.nonEmpty) {
    val ranges = passed.sortBy(range => (range.splitId, range.range.from)).map { range =>
      s"${range.splitId} from ${range.range.from} up to ${range.range.until}"
    }
    throw conditions.error("SPLICE_DYNAMIC_KAFKA.ROLLBACK_NOT_SUPPORTED", "ranges" -> ranges.mkString(", "))
  }

  /** Selected stream names do not exist. */
  def noStreams(names: Iterable[String]): SpliceException =
    conditions.error("SPLICE_METADATA.STREAM_NOT_FOUND", "streams" -> names.toSeq.sorted.mkString(", "))

  /** The metadata service has not responded within `metadata.failureTimeout`. */
  def silentService(since: java.time.Instant, cause: Throwable): SpliceException = conditions.error(
    "SPLICE_METADATA_CONNECTION.FAILURE_TIMEOUT_EXCEEDED",
    cause,
    "since"  -> since.toString,
    "reason" -> SpliceError.text(cause)
  )

  /** The metadata service has not responded to the request of a start. */
  def slowService(service: String, limit: java.time.Duration, restarts: Boolean): SpliceException = conditions.error(
    "SPLICE_METADATA_CONNECTION.START_TIMEOUT_EXCEEDED",
    "service" -> service,
    "seconds" -> limit.toSeconds.toString,
    "option"  -> (if (restarts) DynamicOptions.MetadataTimeout else PolicyOptions.ClusterTimeout).key
  )

  /** A checkpoint of a source of one cluster cannot be used, because the metadata does not have exactly one cluster. */
  def notOneCluster(clusters: Iterable[String]): SpliceException = conditions.error(
    "SPLICE_DYNAMIC_KAFKA.TAKEOVER_NOT_SUPPORTED",
    "clusters" -> (if (clusters.isEmpty) "none" else clusters.toSeq.sorted.mkString(", "))
  )

  /** A hand-over found offsets of topics, and each of these topics is on several clusters. */
  def severalClusters(topics: Seq[(String, Iterable[String])]): SpliceException = conditions.error(
    "SPLICE_DYNAMIC_KAFKA.AMBIGUOUS_HAND_OVER",
    "topics" -> topics.map { case (topic, names) => s"$topic on ${names.mkString(" and ")}" }.mkString(", ")
  )

  /** A hand-over needs clusters that are inactive. */
  def inactive(clusters: Iterable[String]): SpliceException =
    conditions.error("SPLICE_DYNAMIC_KAFKA.CLUSTER_INACTIVE", "clusters" -> clusters.toSeq.sorted.mkString(", "))

  /** Two cluster names belong to one cluster, and topics would be read twice. */
  def sameCluster(names: Seq[String], id: String, topics: Iterable[String]): SpliceException = conditions.error(
    "SPLICE_METADATA.DUPLICATE_CLUSTER",
    "clusters"  -> names.sorted.mkString(" and "),
    "clusterId" -> id,
    "topics"    -> topics.toSeq.sorted.mkString(", ")
  )

  /** Required clusters do not respond. */
  def unavailable(
      clusters: Iterable[String],
      since: java.time.Instant,
      cause: Throwable
  ): SpliceException = conditions.error(
    "SPLICE_KAFKA_CONNECTION.CLUSTER_UNAVAILABLE",
    cause,
    "cluster" -> clusters.toSeq.sorted.mkString(", "),
    "since"   -> since.toString,
    "reason"  -> SpliceError.text(cause)
  )
}
