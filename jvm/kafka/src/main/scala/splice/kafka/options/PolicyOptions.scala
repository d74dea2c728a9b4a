// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.options

import java.time.{Duration, Instant}
import java.util.Locale

import scala.util.Try

import splice.source.{Durations, OptionErrors, OptionType, SourceOption, SourceOptions}

/** The options for logs that have changed, and for commits to a consumer group. */
private[splice] object PolicyOptions {

  val NewPartitionsStart: SourceOption[NewPartitions] = SourceOption(
    "newPartitionsStartAt",
    OptionType.choice[NewPartitions]("earliest" -> NewPartitions.Earliest, "latest" -> NewPartitions.Latest),
    "where partitions and topics begin that are found after the first start; decided once, as a number"
  ).withDefault(NewPartitions.Earliest, "earliest")

  val OnOutOfRange: SourceOption[OutOfRange] = SourceOption(
    "onOutOfRange",
    OptionType(
      "fail, earliest, latest, or timestamp:<time> with milliseconds since 1970-01-01T00:00:00Z or a time such as " +
        "2026-01-31T00:00:00Z",
      text =>
        word(text) match {
          case "fail"                             => Some(OutOfRange.Fail)
          case "earliest"                         => Some(OutOfRange.Earliest)
          case "latest"                           => Some(OutOfRange.Latest)
          case time if time.startsWith(Timestamp) => millis(time.drop(Timestamp.length)).map(OutOfRange.AtTime(_))
          case _                                  => None
        }
    ),
    "where a partition goes on when retention has removed the record that it must read next; by default fail, and " +
      "earliest when failOnDataLoss is false"
  )

  val OnTopicRecreated: SourceOption[TopicRecreated] = SourceOption(
    "onTopicRecreated",
    OptionType.choice[TopicRecreated]("fail" -> TopicRecreated.Fail, "restart" -> TopicRecreated.Restart),
    "what happens when a topic was deleted and created again, or the cluster is another one: restart reads the new topic " +
      "from its earliest record"
  ).withDefault(TopicRecreated.Fail, "fail")

  val OnTopicRemoved: SourceOption[TopicRemoved] = SourceOption(
    "onTopicRemoved",
    OptionType(
      "fail, drain, drop, or keep:<time> such as keep:7 days",
      text =>
        word(text) match {
          case "fail"                        => Some(TopicRemoved.Fail)
          case "drain"                       => Some(TopicRemoved.Drain)
          case "drop"                        => Some(TopicRemoved.Drop)
          case time if time.startsWith(Keep) => Durations.parse(time.drop(Keep.length)).map(TopicRemoved.Keep(_))
          case _                             => None
        }
    ),
    "what happens when a topic is gone: drain goes on without it and keeps its position, drop forgets its position, keep " +
      "forgets it after so long; by default fail, and drop when failOnDataLoss is false"
  )

  val MetadataFailureTimeout: SourceOption[Duration] = SourceOption(
    "metadataFailureTimeout",
    OptionType.Time,
    "how long the brokers, or the leaders of single partitions, may not respond before a query that has begun fails; " +
      "until then it waits"
  ).withDefault(LogPolicies.Patience, "5m")

  val CommitToGroup: SourceOption[Boolean] = SourceOption(
    "commitToGroup",
    OptionType.Bool,
    "whether offsets that Spark has committed are committed to the consumer group kafka.group.id too, for tools that " +
      "show lag"
  ).withDefault(false, "false")

  val Rack: SourceOption[RackFrom] = SourceOption(
    "rackFrom",
    OptionType(
      "env:<environment variable>, conf:<key of Spark's configuration>, or none",
      text =>
        text.trim.split(":", 2) match {
          case Array("env", name) if name.trim.nonEmpty => Some(RackFrom.Environment(name.trim))
          case Array("conf", key) if key.trim.nonEmpty  => Some(RackFrom.Configuration(key.trim))
          case Array(one) if word(one) == "none"        => Some(RackFrom.Nowhere)
          case _                                        => None
        }
    ),
    "where each executor finds the name of its rack, to read from the nearest replica (the client's client.rack)"
  ).withDefault(RackFrom.Nowhere, "none")

  val all: Seq[SourceOption[_]] = Seq(
    NewPartitionsStart,
    OnOutOfRange,
    OnTopicRecreated,
    OnTopicRemoved,
    MetadataFailureTimeout,
    CommitToGroup,
    Rack
  )

  /** @throws splice.source.SpliceOptionException when options contradict each other */
  def policies(options: SourceOptions): LogPolicies = {
    val loss     = KafkaOptions.FailOnDataLoss
    val defaults = LogPolicies.of(options(loss))
    val range    = options.find(OnOutOfRange).getOrElse(defaults.outOfRange)
    if (options.contains(loss.key) && options(loss) != range.fails)
      throw OptionErrors.conflict(
        Seq(loss, OnOutOfRange).map(o => options.name(o.key)),
        s"the first is ${options(loss)}, so the second must ${if (options(loss)) "be" else "not be"} fail. " +
          "Change the second, or remove the first"
      )
    LogPolicies(
      options(NewPartitionsStart),
      range,
      options(OnTopicRecreated),
      options.find(OnTopicRemoved).getOrElse(defaults.removed),
      options(MetadataFailureTimeout)
    )
  }

  private val Timestamp = "timestamp:"
  private val Keep      = "keep:"

  private def word(text: String): String = text.trim.toLowerCase(Locale.ROOT)

  private def millis(text: String): Option[Long] =
    OptionType.Millis.parse(text).orElse(
      Try(Instant.parse(text.trim.toUpperCase(Locale.ROOT)).toEpochMilli).toOption.filter(_ >= 0)
    )
}
