// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.options

import java.time.{Duration, Instant}

import scala.collection.immutable.{SortedMap, SortedSet}

import org.apache.kafka.clients.consumer.ConsumerConfig

import splice.kafka.Place
import splice.kafka.internal.errors.KafkaErrors
import splice.source.errors.OptionErrors
import splice.source.internal.value.ValueSettings
import splice.source.options.{SourceOption, SourceOptions}
import splice.source.{Limits, LogPartition}

/** The parsed and checked options of a Kafka source.
  *
  * @param start
  *   None for the default: latest in a stream, earliest in a batch
  * @param ending
  *   the end of a bounded source
  * @param pollTimeout
  *   None for Spark's network timeout
  * @param readBufferBytes
  *   None for a part of the heap of each JVM
  * @param prefix
  *   the prefix of options in errors, such as `live.` for a leg
  * @param hasGenerations
  *   true if each position stores the generations of its topics, as positions of many clusters do
  */
final private[splice] case class KafkaSettings(
    subscription: Subscription,
    client: ClientProperties,
    start: Option[Place],
    ending: Option[Place],
    limits: Limits.Limited,
    failOnDataLoss: Boolean,
    includeHeaders: Boolean,
    pollTimeout: Option[Duration],
    retries: Int,
    retryInterval: Duration,
    discoveryInterval: Duration,
    readerIdleTimeout: Duration,
    value: ValueSettings = ValueSettings.Raw,
    admission: AdmissionPolicy = AdmissionPolicy.Lag,
    eventTime: Option[EventTimeSettings] = None,
    policies: LogPolicies = LogPolicies(),
    commitToGroup: Boolean = false,
    rackFrom: RackFrom = RackFrom.Nowhere,
    readBufferBytes: Option[Long] = None,
    prefix: String = "",
    hasGenerations: Boolean = false
)

private[splice] object KafkaSettings {

  /** @throws splice.source.errors.SpliceOptionException
    *   when an option is missing, has an invalid value, or contradicts another option
    */
  def apply(options: SourceOptions): KafkaSettings = {
    val client = ClientProperties.of(options)
    val topics = subscription(options)
    KafkaSettings(
      subscription = topics,
      client = client,
      start = start(options, client, options),
      ending = ending(options, client),
      limits = limits(options),
      failOnDataLoss = options(KafkaOptions.FailOnDataLoss),
      includeHeaders = options(KafkaOptions.IncludeHeaders),
      pollTimeout = options.find(KafkaOptions.PollTimeout).map(Duration.ofMillis(_)),
      retries = options(KafkaOptions.Retries),
      retryInterval = Duration.ofMillis(options(KafkaOptions.RetryInterval)),
      discoveryInterval = options(KafkaOptions.DiscoveryInterval),
      readerIdleTimeout = options(KafkaOptions.ReaderIdleTimeout),
      value = ValueSettings(options)(KafkaErrors.rejectedOption),
      admission = options(AdmissionOptions.Admission),
      eventTime = eventTime(options),
      policies = policies(options),
      commitToGroup = commitToGroup(options, client),
      rackFrom = rackFrom(options, client),
      readBufferBytes = options.find(KafkaOptions.ReadBufferBytes),
      prefix = options.name("")
    )
  }

  private def subscription(options: SourceOptions): Subscription = {
    def named(choices: Seq[SourceOption[_]]) = choices.map(o => options.name(o.key))
    KafkaOptions.Subscriptions.filter(o => options.contains(o.key)) match {
      case Seq(KafkaOptions.Subscribe)        => Subscription.Topics(SortedSet.from(options(KafkaOptions.Subscribe)))
      case Seq(KafkaOptions.SubscribePattern) => Subscription.TopicPattern(options(KafkaOptions.SubscribePattern))
      case Seq(KafkaOptions.Assign)           => options(KafkaOptions.Assign)
      case Seq()                              =>
        throw OptionErrors.missing(
          named(KafkaOptions.Subscriptions).mkString("' or '"),
          "Topics or partitions to read. Exactly one of these options must be set."
        )
      case several =>
        throw OptionErrors.conflict(
          named(several),
          "exactly one of these options must be set; remove the other options"
        )
    }
  }

  /** The start that options define.
    *
    * @param all
    *   the options that apply if `options` do not contain an option other than the start
    */
  private[splice] def start(options: SourceOptions, client: ClientProperties, all: SourceOptions): Option[Place] = {
    val none = options.find(KafkaOptions.TimestampStrategy).getOrElse(all(KafkaOptions.TimestampStrategy))
    place(options, client, all, "start", none)(
      KafkaOptions.Starting,
      KafkaOptions.StartingTimestamp,
      KafkaOptions.StartingTimestamps
    )
  }

  private def ending(options: SourceOptions, client: ClientProperties): Option[Place] =
    place(options, client, options, "end", Some(Place.Latest))(
      KafkaOptions.Ending,
      KafkaOptions.EndingTimestamp,
      KafkaOptions.EndingTimestamps
    )

  private def place(
      options: SourceOptions,
      client: ClientProperties,
      all: SourceOptions,
      role: String,
      none: Option[Place]
  )(
      text: SourceOption[Place],
      time: SourceOption[Long],
      times: SourceOption[SortedMap[LogPartition, Long]]
  ): Option[Place] = options.find(time).map(millis => Place.At(Instant.ofEpochMilli(millis), otherwise = none))
    .orElse(options.find(times).map(Place.AtTimes(_, none)))
    .orElse(options.find(text).map {
      case _: Place.Committed =>
        val name = options.name(text.key)
        requireGroup(all, client, s"whose committed offsets '$name' = 'committed' uses as the $role")
        Place.Committed(options.find(KafkaOptions.Reset).getOrElse(all(KafkaOptions.Reset)))
      case other => other
    })

  private def requireGroup(options: SourceOptions, client: ClientProperties, purpose: String): Unit =
    if (client.group.isEmpty)
      throw OptionErrors.missing(options.name(s"${KafkaOptions.ClientPrefix}group.id"), s"the consumer group $purpose")

  private def policies(options: SourceOptions): LogPolicies = {
    val policies = PolicyOptions.policies(options)
    val ends     = Seq(KafkaOptions.Ending, KafkaOptions.EndingTimestamp, KafkaOptions.EndingTimestamps)
      .filter(o => options.contains(o.key))
    if (policies.recreated == TopicRecreated.Restart && ends.nonEmpty)
      throw OptionErrors.conflict(
        (PolicyOptions.OnTopicRecreated +: ends).map(o => options.name(o.key)),
        "the end consists of offsets of the first topic, which have no meaning in a recreated topic; change the " +
          "first option to 'fail', or remove the end"
      )
    policies
  }

  private def commitToGroup(options: SourceOptions, client: ClientProperties): Boolean = {
    val commits = options(PolicyOptions.CommitToGroup)
    if (commits)
      requireGroup(options, client, s"that '${options.name(PolicyOptions.CommitToGroup.key)}' commits offsets to")
    commits
  }

  private def rackFrom(options: SourceOptions, client: ClientProperties): RackFrom = {
    val from = options(PolicyOptions.Rack)
    if (from != RackFrom.Nowhere && client.properties.contains(ConsumerConfig.CLIENT_RACK_CONFIG))
      throw OptionErrors.conflict(
        Seq(PolicyOptions.Rack.key, s"${KafkaOptions.ClientPrefix}${ConsumerConfig.CLIENT_RACK_CONFIG}")
          .map(options.name),
        "each of these options defines the rack of an executor; remove one of the options"
      )
    from
  }

  private[splice] def eventTime(options: SourceOptions): Option[EventTimeSettings] =
    if (options(AdmissionOptions.Admission) == AdmissionPolicy.EventTime)
      Some(EventTimeSettings(options(AdmissionOptions.MaxAhead), options(AdmissionOptions.FutureTime)))
    else {
      val without = Seq(AdmissionOptions.MaxAhead, AdmissionOptions.FutureTime).filter(o => options.contains(o.key))
      if (without.nonEmpty)
        throw OptionErrors.conflict(
          (without :+ AdmissionOptions.Admission).map(o => options.name(o.key)),
          s"the first option has an effect only with 'admission' = '${AdmissionPolicy.EventTime.word}'; set this value, " +
            "or remove the option"
        )
      None
    }

  private def limits(options: SourceOptions): Limits.Limited = {
    val most  = options.find(KafkaOptions.MaxOffsets)
    val least = options.find(KafkaOptions.MinOffsets)
    if (most.exists(m => least.exists(_ > m)))
      throw OptionErrors.conflict(
        Seq(KafkaOptions.MinOffsets, KafkaOptions.MaxOffsets).map(o => options.name(o.key)),
        "a batch cannot wait for more offsets than the batch may read; lower the first option, or raise the second " +
          "option"
      )
    Limits.Limited(
      rows = most,
      bytes = options.find(AdmissionOptions.MaxBytes),
      minRows = least,
      maxDelay = options(KafkaOptions.MaxTriggerDelay)
    )
  }
}
