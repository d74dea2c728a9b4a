// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.options

import java.time.Duration

import scala.collection.immutable.SortedMap

import splice.kafka.Place
import splice.kafka.internal.split.PartitionJson
import splice.source.internal.value.ValueOptions
import splice.source.options.SourceOptions.fold
import splice.source.options.{OptionSet, OptionType, SourceOption}
import splice.source.{Limits, LogPartition}

/** The options of a Kafka source. An option that Spark's Kafka source also has keeps the name and meaning of Spark's
  * option.
  */
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
    OptionType("one or more host:port, separated by commas", t => Some(t.trim).filter(_.nonEmpty)),
    "Addresses of the brokers that the Kafka client contacts first."
  )

  val Subscribe: SourceOption[Seq[String]] = SourceOption(
    "subscribe",
    OptionType("topic names separated by commas", t => Some(names(t)).filter(_.nonEmpty)),
    "Names of the topics to read."
  )

  val SubscribePattern: SourceOption[String] = SourceOption(
    "subscribePattern",
    OptionType.Regex,
    "Pattern of the topics to read, including topics that are created later. A topic matches if its name " +
      "contains a match of the pattern. '^' and '$' anchor the pattern to the whole name."
  )

  val Assign: SourceOption[Subscription.Assigned] = SourceOption(
    "assign",
    OptionType("JSON such as {\"orders\":[0,1]}", PartitionJson.readPartitions(_).map(Subscription.Assigned(_))),
    "Partitions to read. Splice reads no other partitions."
  )

  /** The options that select topics. Exactly one must be set. */
  val Subscriptions: Seq[SourceOption[_]] = Seq(Subscribe, SubscribePattern, Assign)

  val Starting: SourceOption[Place] = SourceOption(
    "startingOffsets",
    OptionType(
      s"earliest, latest, committed, or $offsetsJson and -2 is earliest",
      text => Place.ofWord(text).orElse(offsets.parse(text).map(Place.Exact(_)))
    ),
    "Start of each partition at the first start of the query. Default: 'latest' for a streaming query, " +
      "'earliest' for a batch query. 'newPartitionsStartAt' sets the start of partitions that Splice finds " +
      "later."
  )

  val StartingTimestamp: SourceOption[Long] = SourceOption(
    "startingTimestamp",
    OptionType.Millis,
    "Timestamp from which Splice reads all partitions. Each partition starts at the first record at or after " +
      "this timestamp. 'startingTimestamp' overrides all other options that set a start."
  )

  val StartingTimestamps: SourceOption[SortedMap[LogPartition, Long]] = SourceOption(
    "startingOffsetsByTimestamp",
    times,
    "Timestamp from which Splice reads each partition. A partition starts at the first record at or after " +
      "the timestamp of the partition. 'startingOffsetsByTimestamp' overrides 'startingOffsets'."
  )

  val TimestampStrategy: SourceOption[Option[Place]] = SourceOption(
    "startingOffsetsByTimestampStrategy",
    OptionType.choice[Option[Place]]("error" -> None, "latest" -> Some(Place.Latest)),
    "Policy for a partition without a record at or after the starting time. 'error' ends the query with an " +
      "error. 'latest' starts the partition at its end."
  ).withDefault(None, "error")

  val Reset: SourceOption[Option[Place]] = SourceOption(
    "onNoCommittedOffset",
    OptionType.choice[Option[Place]](
      "fail"     -> None,
      "earliest" -> Some(Place.Earliest),
      "latest"   -> Some(Place.Latest)
    ),
    "Policy for a partition without a committed offset of the consumer group, if 'startingOffsets' or " +
      "'endingOffsets' is 'committed'. 'fail' ends the query with an error. 'earliest' and 'latest' define " +
      "the start or the end of the partition."
  ).withDefault(None, "fail")

  val Ending: SourceOption[Place] = SourceOption(
    "endingOffsets",
    OptionType(
      s"latest, committed, or $offsetsJson",
      text =>
        Place.ofWord(text).filterNot(_ == Place.Earliest)
          .orElse(offsets.parse(text).filter(_.values.forall(_ >= -1)).map(Place.Exact(_)))
    ),
    "End of each partition, exclusive. This option makes the source bounded."
  )

  val EndingTimestamp: SourceOption[Long] = SourceOption(
    "endingTimestamp",
    OptionType.Millis,
    "Timestamp up to which Splice reads all partitions. Each partition ends before the first record at or " +
      "after this timestamp. This option makes the source bounded. 'endingTimestamp' overrides all other " +
      "options that set an end."
  )

  val EndingTimestamps: SourceOption[SortedMap[LogPartition, Long]] = SourceOption(
    "endingOffsetsByTimestamp",
    times,
    "Timestamp up to which Splice reads each partition. A partition ends before the first record at or after " +
      "the timestamp of the partition. This option makes the source bounded. 'endingOffsetsByTimestamp' " +
      "overrides 'endingOffsets'."
  )

  val MaxOffsets: SourceOption[Long] = SourceOption(
    "maxOffsetsPerTrigger",
    OptionType.PositiveLong,
    "Maximum number of offsets per batch. Partitions share this number in proportion to their backlogs, " +
      "unless 'admission' is 'equal'. Default: no limit. For a leg before another leg, the default is " +
      "10000000, unless 'minOffsetsPerTrigger' or 'maxBytesPerTrigger' is set."
  )

  val MinOffsets: SourceOption[Long] = SourceOption(
    "minOffsetsPerTrigger",
    OptionType.PositiveLong,
    "Number of offsets that must be available before a batch begins. 'maxTriggerDelay' limits the time for " +
      "which a batch waits."
  )

  val MaxTriggerDelay: SourceOption[Duration] =
    SourceOption(
      "maxTriggerDelay",
      OptionType.TimeOrMillis,
      "Maximum time for which a batch waits until the number of offsets in 'minOffsetsPerTrigger' is available."
    )
      .withDefault(Limits.DefaultMaxDelay, "15m")

  val FailOnDataLoss: SourceOption[Boolean] = SourceOption(
    "failOnDataLoss",
    OptionType.Bool,
    "If 'true', the query fails when records that the query must read no longer exist. If 'false', Splice " +
      "logs a warning, and the query continues after the missing records. 'onOutOfRange' and " +
      "'onTopicRemoved' set separate policies for removed records and deleted topics."
  ).withDefault(true, "true")

  val IncludeHeaders: SourceOption[Boolean] = SourceOption(
    "includeHeaders",
    OptionType.Bool,
    "If 'true', rows have the column 'headers' with the headers of the record."
  ).withDefault(false, "false")

  val GroupIdPrefix: SourceOption[String] = SourceOption(
    "groupIdPrefix",
    OptionType.Text,
    "Prefix of the consumer group id that readers send to the brokers. The access rules of the brokers apply " +
      "to this id. Default: readers send no group id."
  )

  val PollTimeout: SourceOption[Long] = SourceOption(
    "kafkaConsumer.pollTimeoutMs",
    OptionType.PositiveLong,
    "Time in milliseconds for which a reader waits for a record before the reader fails. Default: the value " +
      "of 'spark.network.timeout'."
  )

  val Retries: SourceOption[Int] = SourceOption(
    "fetchOffset.numRetries",
    OptionType("a whole number, 0 or more", _.trim.toIntOption.filter(_ >= 0)),
    "Number of retries of a request from the driver to a broker after a transient error."
  ).withDefault(3, "3")

  val RetryInterval: SourceOption[Long] = SourceOption(
    "fetchOffset.retryIntervalMs",
    OptionType("milliseconds, 0 or more", _.trim.toLongOption.filter(_ >= 0)),
    "Delay in milliseconds before the driver retries a request. The same delay applies before Splice accepts " +
      "an end offset that is lower than the previous end offset."
  ).withDefault(1000L, "1000")

  val DiscoveryInterval: SourceOption[Duration] = SourceOption(
    "discoveryInterval",
    OptionType.Time,
    "Interval at which Splice polls for new topics and partitions."
  ).withDefault(Duration.ofSeconds(10), "10s")

  val ReaderIdleTimeout: SourceOption[Duration] =
    SourceOption(
      "readerIdleTimeout",
      OptionType.Time,
      "Idle time after which an executor closes a reader that no task uses."
    )
      .withDefault(Duration.ofMinutes(2), "2m")

  val ReadBufferBytes: SourceOption[Long] = SourceOption(
    "readBufferBytes",
    OptionType(
      "a size of 16m or more, such as 268435456, 256m or 1g",
      OptionType.Bytes.parse(_).filter(_ >= ReadLimits.LeastBudget)
    ),
    "Memory for fetched and decoded records of all Kafka readers in one JVM, over all queries. Default: one " +
      "eighth of the heap, at least 16 MiB and at most 512 MiB. If queries in one JVM set different values, " +
      "the smallest value applies."
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
    others = isPassedOn,
    named = isPassedOn
  )

  private def isPassedOn(key: String): Boolean = isClientProperty(key) || ValueOptions.isFormats(key)

  /** True if an option is a property of the Kafka client. */
  def isClientProperty(key: String): Boolean = word(key).startsWith(ClientPrefix)

  private[splice] def word(text: String): String = fold(text.trim)

  private[splice] def names(text: String): Seq[String] = text.split(",").map(_.trim).filter(_.nonEmpty).toSeq
}
