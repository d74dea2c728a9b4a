// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.options

import java.time.Duration
import java.util.Locale

import scala.collection.immutable.SortedMap

import splice.source.{Limits, LogPartition, OptionSet, OptionType, SourceOption}

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
    "the brokers that the client asks first"
  )

  val Subscribe: SourceOption[Seq[String]] = SourceOption(
    "subscribe",
    OptionType("topic names separated by commas", t => Some(names(t)).filter(_.nonEmpty)),
    "the topics to read"
  )

  val SubscribePattern: SourceOption[String] = SourceOption(
    "subscribePattern",
    OptionType.Regex,
    "reads every topic whose name holds a match, also those made later; ^ and $ bind the pattern to the whole name"
  )

  val Assign: SourceOption[Subscription.Assigned] = SourceOption(
    "assign",
    OptionType("JSON such as {\"orders\":[0,1]}", PartitionJson.readPartitions(_).map(Subscription.Assigned(_))),
    "the partitions to read, and no others"
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
          case "committed" => Some(StartingOffsets.Committed(CommittedReset.Fail))
          case _           => offsets.parse(text).map(StartingOffsets.Exact(_))
        }
    ),
    "where to begin; by default latest in a stream and earliest in a batch. Partitions found later begin where " +
      "newPartitionsStartAt says"
  )

  val StartingTimestamp: SourceOption[Long] = SourceOption(
    "startingTimestamp",
    OptionType.Millis,
    "begins at the first record at or after this time; goes before every other start"
  )

  val StartingTimestamps: SourceOption[SortedMap[LogPartition, Long]] = SourceOption(
    "startingOffsetsByTimestamp",
    times,
    "begins at the first record at or after a time per partition; goes before startingOffsets"
  )

  val TimestampStrategy: SourceOption[NoRecordAtTime] = SourceOption(
    "startingOffsetsByTimestampStrategy",
    OptionType.choice[NoRecordAtTime]("error" -> NoRecordAtTime.Error, "latest" -> NoRecordAtTime.Latest),
    "what a partition does that has no record at or after the starting time"
  ).withDefault(NoRecordAtTime.Error, "error")

  val Reset: SourceOption[CommittedReset] = SourceOption(
    "committedReset",
    OptionType.choice[CommittedReset](
      "earliest" -> CommittedReset.Earliest,
      "latest"   -> CommittedReset.Latest,
      "fail"     -> CommittedReset.Fail
    ),
    "where a partition begins, or ends, that the group has committed no offset of, when startingOffsets, or " +
      "endingOffsets, is committed"
  ).withDefault(CommittedReset.Fail, "fail")

  val Ending: SourceOption[EndingOffsets] = SourceOption(
    "endingOffsets",
    OptionType(
      s"latest, committed, or $offsetsJson",
      text =>
        word(text) match {
          case "latest"    => Some(EndingOffsets.Latest)
          case "committed" => Some(EndingOffsets.Committed(CommittedReset.Fail))
          case _           => offsets.parse(text).filter(_.values.forall(_ >= -1)).map(EndingOffsets.Exact(_))
        }
    ),
    "where to end, the offset itself excluded; makes the source bounded"
  )

  val EndingTimestamp: SourceOption[Long] = SourceOption(
    "endingTimestamp",
    OptionType.Millis,
    "ends before the first record at or after this time; makes the source bounded; goes before every other end"
  )

  val EndingTimestamps: SourceOption[SortedMap[LogPartition, Long]] = SourceOption(
    "endingOffsetsByTimestamp",
    times,
    "ends before the first record at or after a time per partition; makes the source bounded; goes before endingOffsets"
  )

  val MaxOffsets: SourceOption[Long] = SourceOption(
    "maxOffsetsPerTrigger",
    OptionType.PositiveLong,
    "at most so many offsets a batch, shared among partitions by how far each is behind"
  )

  val MinOffsets: SourceOption[Long] = SourceOption(
    "minOffsetsPerTrigger",
    OptionType.PositiveLong,
    "waits for so many offsets before a batch begins, but no longer than maxTriggerDelay"
  )

  val MaxTriggerDelay: SourceOption[Duration] =
    SourceOption("maxTriggerDelay", OptionType.Time, "how long a batch may wait for minOffsetsPerTrigger")
      .withDefault(Limits.DefaultMaxDelay, "15m")

  val FailOnDataLoss: SourceOption[Boolean] = SourceOption(
    "failOnDataLoss",
    OptionType.Bool,
    "whether the query fails when records that it must read are gone; else it warns and goes on after them. " +
      "onOutOfRange and onTopicRemoved say more exactly what happens"
  ).withDefault(true, "true")

  val IncludeHeaders: SourceOption[Boolean] =
    SourceOption("includeHeaders", OptionType.Bool, "adds the column headers").withDefault(false, "false")

  val GroupIdPrefix: SourceOption[String] = SourceOption(
    "groupIdPrefix",
    OptionType.Text,
    "begins the consumer group id that brokers see, for their access rules; without it readers name no group"
  )

  val PollTimeout: SourceOption[Long] = SourceOption(
    "kafkaConsumer.pollTimeoutMs",
    OptionType.PositiveLong,
    "milliseconds that a reader waits for a record before it fails; by default as long as spark.network.timeout"
  )

  val Retries: SourceOption[Int] = SourceOption(
    "fetchOffset.numRetries",
    OptionType("a whole number, 0 or more", _.trim.toIntOption.filter(_ >= 0)),
    "how often the driver asks a broker again after an error that may pass"
  ).withDefault(3, "3")

  val RetryInterval: SourceOption[Long] = SourceOption(
    "fetchOffset.retryIntervalMs",
    OptionType("milliseconds, 0 or more", _.trim.toLongOption.filter(_ >= 0)),
    "milliseconds before the driver asks a broker again, and before a lower end than before is believed"
  ).withDefault(1000L, "1000")

  val DiscoveryInterval: SourceOption[Duration] =
    SourceOption("discoveryInterval", OptionType.Time, "how often new topics and partitions are looked for")
      .withDefault(Duration.ofSeconds(10), "10s")

  val ReaderIdleTimeout: SourceOption[Duration] =
    SourceOption("readerIdleTimeout", OptionType.Time, "how long an executor keeps a reader open that no task uses")
      .withDefault(Duration.ofMinutes(2), "2m")

  val ReadBufferBytes: SourceOption[Long] = SourceOption(
    "readBufferBytes",
    OptionType(
      "a size of 16m or more, such as 268435456, 256m or 1g",
      OptionType.Bytes.parse(_).filter(_ >= ReadLimits.LeastBudget)
    ),
    "memory for fetched and decoded records of all Kafka readers of one JVM, over all queries. Default: an eighth of the " +
      "heap, 512m at most. If queries of one JVM set several values, the smallest holds"
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

  private[splice] def word(text: String): String = text.trim.toLowerCase(Locale.ROOT)

  private[splice] def names(text: String): Seq[String] = text.split(",").map(_.trim).filter(_.nonEmpty).toSeq
}
