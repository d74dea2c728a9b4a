// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.options

import java.time.{Duration, Instant}
import java.util.Locale

import scala.util.Try

import splice.kafka.Place
import splice.source.errors.OptionErrors
import splice.source.options.{OptionType, SourceOption, SourceOptions}

/** The options for logs that have changed, and for commits to a consumer group. */
private[splice] object PolicyOptions {

  val NewPartitionsStart: SourceOption[Place] = SourceOption(
    "newPartitionsStartAt",
    OptionType.choice[Place]("earliest" -> Place.Earliest, "latest" -> Place.Latest),
    "Start of partitions and topics that Splice finds after the first start of the query. Splice resolves " +
      "the start of each partition to an offset only once."
  ).withDefault(Place.Earliest, "earliest")

  val OnOutOfRange: SourceOption[OutOfRange] = SourceOption(
    "onOutOfRange",
    OptionType(
      "fail, earliest, latest, or timestamp:<time>, where <time> is milliseconds since 1970-01-01T00:00:00Z or " +
        "a time such as 2026-01-31T00:00:00Z",
      text =>
        KafkaOptions.word(text) match {
          case "fail"                             => Some(OutOfRange.Fail)
          case "earliest"                         => Some(OutOfRange.Earliest)
          case "latest"                           => Some(OutOfRange.Latest)
          case time if time.startsWith(Timestamp) => millis(time.drop(Timestamp.length)).map(OutOfRange.AtTime(_))
          case _                                  => None
        }
    ),
    "Policy for a partition whose next record was removed by retention. 'fail' ends the query with an error. " +
      "Each other value sets the position at which the query continues. Default: 'fail', or 'earliest' if " +
      "'failOnDataLoss' is 'false'."
  )

  val OnTopicRecreated: SourceOption[TopicRecreated] = SourceOption(
    "onTopicRecreated",
    OptionType.choice[TopicRecreated]("fail" -> TopicRecreated.Fail, "restart" -> TopicRecreated.Restart),
    "Policy for a topic that was deleted and created again, or that is now on a different cluster. 'fail' " +
      "ends the query with an error. 'restart' reads the new topic from its earliest record."
  ).withDefault(TopicRecreated.Fail, "fail")

  val OnTopicRemoved: SourceOption[Duration => TopicRemoved] = SourceOption(
    "onTopicRemoved",
    OptionType.choice[Duration => TopicRemoved](
      "fail"  -> (_ => TopicRemoved.Fail),
      "drain" -> (TopicRemoved.Drain(_)),
      "drop"  -> (_ => TopicRemoved.Drop)
    ),
    "Policy for a topic that was deleted at the brokers. 'fail' ends the query with an error. With 'drain', " +
      "the query continues without the topic, and Splice keeps the position of the topic for " +
      "'removedRetention'. With 'drop', the query continues without the topic, and Splice removes the topic " +
      "from the offset of the query. A later topic with the same name and another id is a new topic. A topic " +
      "with the same id resumes at the position in the entry 'deleted-<n>' of the checkpoint. Default: " +
      "'fail', or 'drop' if 'failOnDataLoss' is 'false'."
  )

  val RemovedRetention: SourceOption[Duration] = SourceOption(
    "removedRetention",
    OptionType.Time,
    "Time for which Splice keeps the positions of removed topics. This time applies to topics that the " +
      "brokers deleted, if 'onTopicRemoved' is 'drain', and to topics that stream metadata removed. A topic " +
      "that returns within this time resumes at its position."
  ).withDefault(LogPolicies.Retention, "7d")

  val ClusterTimeout: SourceOption[Duration] = SourceOption(
    "clusterTimeout",
    OptionType.Time,
    "Time for which a cluster, or the leader of a single partition, may be unavailable before a started " +
      "query fails. With several clusters, this time applies to the first start of the query and to a batch " +
      "that Spark has already logged. The time also applies to batch reads and to runs with the trigger " +
      "AvailableNow or Once. Other batches continue without the cluster, unless 'onClusterUnavailable' is " +
      "'fail'."
  ).withDefault(LogPolicies.Patience, "5m")

  val CommitToGroup: SourceOption[Boolean] = SourceOption(
    "commitToGroup",
    OptionType.Bool,
    "If 'true', Splice also commits the offsets of committed batches to the consumer group in " +
      "'kafka.group.id'. Tools can then show the consumer lag of the query."
  ).withDefault(false, "false")

  val Rack: SourceOption[RackFrom] = SourceOption(
    "rackFrom",
    OptionType(
      "env:<environment variable>, conf:<key of Spark's configuration>, or none",
      text =>
        text.trim.split(":", 2) match {
          case Array("env", name) if name.trim.nonEmpty         => Some(RackFrom.Environment(name.trim))
          case Array("conf", key) if key.trim.nonEmpty          => Some(RackFrom.Configuration(key.trim))
          case Array(word) if KafkaOptions.word(word) == "none" => Some(RackFrom.Nowhere)
          case _                                                => None
        }
    ),
    "Source of the rack name of each executor, for the property 'client.rack' of the Kafka client. With a " +
      "rack name, readers fetch records from the nearest replica."
  ).withDefault(RackFrom.Nowhere, "none")

  val all: Seq[SourceOption[_]] = Seq(
    NewPartitionsStart,
    OnOutOfRange,
    OnTopicRecreated,
    OnTopicRemoved,
    RemovedRetention,
    ClusterTimeout,
    CommitToGroup,
    Rack
  )

  /** @throws splice.source.errors.SpliceOptionException when options contradict each other */
  def policies(options: SourceOptions): LogPolicies = {
    val loss     = KafkaOptions.FailOnDataLoss
    val defaults = LogPolicies.of(options(loss))
    val range    = options.find(OnOutOfRange).getOrElse(defaults.outOfRange)
    if (options.contains(loss.key) && options(loss) != range.fails)
      throw OptionErrors.conflict(
        Seq(loss, OnOutOfRange).map(o => options.name(o.key)),
        s"the first option is ${options(loss)}, so the second option must ${if (options(loss)) "be" else "not be"} 'fail'. " +
          "Change the second option, or remove the first option"
      )
    LogPolicies(
      options(NewPartitionsStart),
      range,
      options(OnTopicRecreated),
      options.find(OnTopicRemoved).fold(defaults.removed)(_(options(RemovedRetention))),
      options(ClusterTimeout)
    )
  }

  private val Timestamp = "timestamp:"

  private def millis(text: String): Option[Long] =
    OptionType.Millis.parse(text).orElse(
      Try(Instant.parse(text.trim.toUpperCase(Locale.ROOT)).toEpochMilli).toOption.filter(_ >= 0)
    )
}
