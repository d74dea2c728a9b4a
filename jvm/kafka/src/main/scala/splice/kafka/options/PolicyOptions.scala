// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.options

import java.time.{Duration, Instant}
import java.util.Locale

import scala.util.Try

import splice.source.{OptionErrors, OptionType, SourceOption, SourceOptions}

/** The options that say what happens when a log is not as it was left, and who is told how far it was read. */
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

  val OnTopicRemoved: SourceOption[Duration => TopicRemoved] = SourceOption(
    "onTopicRemoved",
    OptionType.choice[Duration => TopicRemoved](
      "fail"  -> (_ => TopicRemoved.Fail),
      "drain" -> (TopicRemoved.Drain(_)),
      "drop"  -> (_ => TopicRemoved.Drop)
    ),
    "what happens when a topic is gone: drain goes on without it and keeps its position for removedRetention, drop " +
      "forgets its position; by default fail, and drop when failOnDataLoss is false"
  )

  val RemovedRetention: SourceOption[Duration] = SourceOption(
    "removedRetention",
    OptionType.Time,
    "how long the position of a topic is kept that brokers deleted (onTopicRemoved = drain). A topic that returns within " +
      "that time resumes at its position"
  ).withDefault(LogPolicies.Retention, "7d")

  val ClusterTimeout: SourceOption[Duration] = SourceOption(
    "clusterTimeout",
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
    RemovedRetention,
    ClusterTimeout,
    CommitToGroup,
    Rack
  )

  /** @throws splice.source.SpliceOptionException when options are in conflict */
  def policies(options: SourceOptions): LogPolicies = {
    val loss     = KafkaOptions.FailOnDataLoss
    val defaults = LogPolicies.of(options(loss))
    val range    = options.find(OnOutOfRange).getOrElse(defaults.outOfRange)
    if (options.contains(loss.key) && options(loss) != range.fails)
      throw OptionErrors.conflict(
        Seq(loss, OnOutOfRange).map(o => options.name(o.key)),
        s"the first is ${options(loss)}, which ${if (options(loss)) "fails" else "does not fail"} where the second " +
          s"${if (options(loss)) "goes on" else "fails"}; the first alone is the same as the second with " +
          (if (options(loss)) "fail" else "earliest")
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

  private def word(text: String): String = text.trim.toLowerCase(Locale.ROOT)

  private def millis(text: String): Option[Long] =
    OptionType.Millis.parse(text).orElse(
      Try(Instant.parse(text.trim.toUpperCase(Locale.ROOT)).toEpochMilli).toOption.filter(_ >= 0)
    )
}
