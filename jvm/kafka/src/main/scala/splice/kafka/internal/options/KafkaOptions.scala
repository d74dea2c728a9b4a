// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.options

import java.time.Duration

import scala.collection.immutable.SortedMap

import splice.kafka.internal.split.PartitionJson
import splice.kafka.internal.value.ValueOptions
import splice.source.options.SourceOptions.fold
import splice.source.options.{OptionSet, OptionType, SourceOption}
import splice.source.{Limits, LogPartition}

/** The options of a Kafka source. Names and meanings are those of Spark's Kafka source, if it has the option. */
private[splice] object KafkaOptions {

  /** The prefix of the properties of the Kafka client. */
  val ClientPrefix = "kafka."

  private val offsetsJson = "JSON such as {\"orders\":{\"0\":23,\"1\":-1}} where -1 is latest"

  private val timesJson = "JSON such as {\"orders\":{\"0\":1700000000000}} in milliseconds since 1970-01-01T00:00:00Z"

  private val offsets: OptionType[SortedMap[LogPartition, Long]] =
    OptionType(offsetsJson, PartitionJson.read(_).filter(m => m.nonEmpty && m.values.forall(_ >= -2)))

  private val times: OptionType[SortedMap[LogPartition, Long]] =
    OptionType(timesJson, PartitionJson.read(_).filter(m => m.nonEmpty && m.values.forall(_ >= 0)))

  val Servers: SourceOption[String] = SourceOption(
    "kafka.bootstrap.servers",
    OptionType("host:port, several separated by commas", t => Some(t.trim).filter(_.nonEmpty)),
    "Brokers that the client contacts first."
  )

  val Subscribe: SourceOption[Seq[String]] = SourceOption(
    "subscribe",
    OptionType("topic names separated by commas", t => Some(names(t)).filter(_.nonEmpty)),
    "Topics to read."
  )

  val SubscribePattern: SourceOption[String] = SourceOption(
    "subscribePattern",
    OptionType.Regex,
    "Pattern of the topics to read, including topics that are created later. A topic matches if its name " +
      "contains a match; ^ and $ bind the pattern to the whole name."
  )

  val Assign: SourceOption[Subscription.Assigned] = SourceOption(
    "assign",
    OptionType("JSON such as {\"orders\":[0,1]}", PartitionJson.readPartitions(_).map(Subscription.Assigned(_))),
    "Partitions to read, and no others."
  )

  /** The options that select topics. Exactly one must be set. */
  val Subscriptions: Seq[SourceOption[_]] = Seq(Subscribe, SubscribePattern, Assign)

  val Starting: SourceOption[StartingOffsets] = SourceOption(
    "startingOffsets",
    OptionType(
      s"earliest, latest, committed, or $offsetsJson and -2 earliest",
      text =>
        word(text) match {
          case "earliest"  => Some(StartingOffsets.Earliest)
          case "latest"    => Some(StartingOffsets.Latest)
          case "committed" => Some(StartingOffsets.Committed(OnNoCommittedOffset.Fail))
          case _           => offsets.parse(text).map(StartingOffsets.Exact(_))
        }
    ),
    "Start of each partition at the first start of the query. Default: latest for a stream, earliest for " +
      "a batch. 'newPartitionsStartAt' sets the start of partitions that are found later."
  )

  val StartingTimestamp: SourceOption[Long] = SourceOption(
    "startingTimestamp",
    OptionType.Millis,
    "Start at the first record at or after this time. The option overrides every other start."
  )

  val StartingTimestamps: SourceOption[SortedMap[LogPartition, Long]] = SourceOption(
    "startingOffsetsByTimestamp",
    times,
    "Start of each partition at the first record at or after a time. The option overrides " +
      "'startingOffsets'."
  )

  val TimestampStrategy: SourceOption[NoRecordAtTime] = SourceOption(
    "startingOffsetsByTimestampStrategy",
    OptionType.choice[NoRecordAtTime]("error" -> NoRecordAtTime.Error, "latest" -> NoRecordAtTime.Latest),
    "Policy for a partition without a record at or after the starting time."
  ).withDefault(NoRecordAtTime.Error, "error")

  val Reset: SourceOption[OnNoCommittedOffset] = SourceOption(
    "onNoCommittedOffset",
    OptionType.choice[OnNoCommittedOffset](
      "fail"     -> OnNoCommittedOffset.Fail,
      "earliest" -> OnNoCommittedOffset.Earliest,
      "latest"   -> OnNoCommittedOffset.Latest
    ),
    "Start or end of a partition without a committed offset of the group, if 'startingOffsets' or " +
      "'endingOffsets' is committed."
  ).withDefault(OnNoCommittedOffset.Fail, "fail")

  val Ending: SourceOption[EndingOffsets] = SourceOption(
    "endingOffsets",
    OptionType(
      s"latest, committed, or $offsetsJson",
      text =>
        word(text) match {
          case "latest"    => Some(EndingOffsets.Latest)
          case "committed" => Some(EndingOffsets.Committed(OnNoCommittedOffset.Fail))
          case _           => offsets.parse(text).filter(_.values.forall(_ >= -1)).map(EndingOffsets.Exact(_))
        }
    ),
    "End of each partition, exclusive. The option makes the source bounded."
  )

  val EndingTimestamp: SourceOption[Long] = SourceOption(
    "endingTimestamp",
    OptionType.Millis,
    "End before the first record at or after this time. The option makes the source bounded and overrides " +
      "every other end."
  )

  val EndingTimestamps: SourceOption[SortedMap[LogPartition, Long]] = SourceOption(
    "endingOffsetsByTimestamp",
    times,
    "End of each partition before the first record at or after a time. The option makes the source " +
      "bounded and overrides 'endingOffsets'."
  )

  val MaxOffsets: SourceOption[Long] = SourceOption(
    "maxOffsetsPerTrigger",
    OptionType.PositiveLong,
    "Maximum number of offsets per batch. Partitions share it in proportion to their backlogs."
  )

  val MinOffsets: SourceOption[Long] = SourceOption(
    "minOffsetsPerTrigger",
    OptionType.PositiveLong,
    "Number of offsets that must be available before a batch begins. 'maxTriggerDelay' limits the wait."
  )

  val MaxTriggerDelay: SourceOption[Duration] =
    SourceOption(
      "maxTriggerDelay",
      OptionType.TimeOrMillis,
      "Maximum time that a batch waits for 'minOffsetsPerTrigger'."
    )
      .withDefault(Limits.DefaultMaxDelay, "15m")

  val FailOnDataLoss: SourceOption[Boolean] = SourceOption(
    "failOnDataLoss",
    OptionType.Bool,
    "If true, the query fails when records that it must read no longer exist. If false, the query warns " +
      "and continues after them. 'onOutOfRange' and 'onTopicRemoved' set the policies one by one."
  ).withDefault(true, "true")

  val IncludeHeaders: SourceOption[Boolean] =
    SourceOption("includeHeaders", OptionType.Bool, "If true, rows have the column headers.").withDefault(
      false,
      "false"
    )

  val GroupIdPrefix: SourceOption[String] = SourceOption(
    "groupIdPrefix",
    OptionType.Text,
    "Prefix of the consumer group id that brokers see, for their access rules. Default: readers send no " +
      "group id."
  )

  val PollTimeout: SourceOption[Long] = SourceOption(
    "kafkaConsumer.pollTimeoutMs",
    OptionType.PositiveLong,
    "Milliseconds that a reader waits for a record before it fails. Default: spark.network.timeout."
  )

  val Retries: SourceOption[Int] = SourceOption(
    "fetchOffset.numRetries",
    OptionType("a whole number, 0 or more", _.trim.toIntOption.filter(_ >= 0)),
    "Number of retries of a driver's request to a broker after a transient error."
  ).withDefault(3, "3")

  val RetryInterval: SourceOption[Long] = SourceOption(
    "fetchOffset.retryIntervalMs",
    OptionType("milliseconds, 0 or more", _.trim.toLongOption.filter(_ >= 0)),
    "Delay in milliseconds before a retry, and before Splice accepts an end offset that is lower than the " +
      "previous one."
  ).withDefault(1000L, "1000")

  val DiscoveryInterval: SourceOption[Duration] =
    SourceOption("discoveryInterval", OptionType.Time, "Time between two polls for new topics and partitions.")
      .withDefault(Duration.ofSeconds(10), "10s")

  val ReaderIdleTimeout: SourceOption[Duration] =
    SourceOption(
      "readerIdleTimeout",
      OptionType.Time,
      "Time after which an executor closes a reader that no task uses."
    )
      .withDefault(Duration.ofMinutes(2), "2m")

  val ReadBufferBytes: SourceOption[Long] = SourceOption(
    "readBufferBytes",
    OptionType(
      "a size of 16m or more, such as 268435456, 256m or 1g",
      OptionType.Bytes.parse(_).filter(_ >= ReadLimits.LeastBudget)
    ),
    "Memory for fetched and decoded records of all Kafka readers of one JVM, over all queries. Default: " +
      "an eighth of the heap, 512m at most. If queries of one JVM set several values, the smallest one " +
      "applies."
  )

  val set: OptionSet = OptionSet(
    "Kafka",
    Seq(
      Servers,
      Subscribe,
      SubscribePattern,
      Assign,
      Starting,
      StartingTimestamp,
      StartingTimestamps,
      TimestampStrategy,
      Reset,
      Ending,
      EndingTimestamp,
      EndingTimestamps,
      MaxOffsets,
      MinOffsets,
      MaxTriggerDelay,
      FailOnDataLoss,
      IncludeHeaders,
      GroupIdPrefix,
      PollTimeout,
      Retries,
      RetryInterval,
      DiscoveryInterval,
      ReaderIdleTimeout,
      ReadBufferBytes
    ) ++ ValueOptions.all ++ AdmissionOptions.all ++ PolicyOptions.all,
    others = key => isClientProperty(key) || ValueOptions.isFormats(key)
  )

  /** True if an option is a property of the Kafka client. */
  def isClientProperty(key: String): Boolean = word(key).startsWith(ClientPrefix)

  private[splice] def word(text: String): String = fold(text.trim)

  private[splice] def names(text: String): Seq[String] = text.split(",").map(_.trim).filter(_.nonEmpty).toSeq
}
