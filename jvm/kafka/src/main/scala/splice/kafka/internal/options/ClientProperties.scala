// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.options

import java.time.Duration

import scala.collection.immutable.SortedMap
import scala.jdk.CollectionConverters._

import org.apache.kafka.clients.CommonClientConfigs
import org.apache.kafka.clients.admin.AdminClientConfig
import org.apache.kafka.clients.consumer.ConsumerConfig
import org.apache.kafka.common.errors.TimeoutException
import org.apache.kafka.common.serialization.ByteArrayDeserializer

import splice.kafka.internal.errors.KafkaErrors
import splice.kafka.internal.secrets.{ClientSecrets, LoginSecrets}
import splice.source.errors.SpliceException
import splice.source.internal.Secrets
import splice.source.options.SourceOptions
import splice.source.options.SourceOptions.fold

/** The properties of the Kafka client that the user has set, without the prefix `kafka.`, and the derived properties of
  * clients.
  */
final private[splice] case class ClientProperties(
    properties: SortedMap[String, String],
    groupIdPrefix: Option[String]
) {

  def servers: String = properties(CommonClientConfigs.BOOTSTRAP_SERVERS_CONFIG)

  /** The values that errors must not show. */
  def secrets: ClientSecrets = new ClientSecrets(properties)

  /** The error if brokers reject a request, or if no client can be created with these properties. */
  def rejected(requested: String, cause: Throwable): SpliceException =
    if (KafkaErrors.isUnresolved(cause)) unreachable(requested, cause)
    else KafkaErrors.rejected(servers, requested, secrets.hide(cause))

  private def unreachable(requested: String, cause: Throwable): SpliceException =
    KafkaErrors.unreachable(servers, requested, Duration.ofMillis(timeoutMillis.toLong), secrets.hide(cause))

  /** The error of a reader whose poll failed. */
  def unread(requested: String, cause: Throwable): SpliceException = cause match {
    case e: TimeoutException           => unreachable(requested, e)
    case e if KafkaErrors.isCorrupt(e) => KafkaErrors.corrupt(servers, secrets.hide(e))
    case e                             => rejected(requested, e)
  }

  def group: Option[String] = properties.get(ConsumerConfig.GROUP_ID_CONFIG)

  /** The timeout of a whole call of the driver. */
  def timeoutMillis: Int =
    number(ClientProperties.ApiTimeout).orElse(number(ClientProperties.RequestTimeout)).getOrElse(60000)

  /** The properties of the consumer with which the driver requests ends and times. */
  def driver(run: String): Map[String, Object] =
    LoginSecrets.inserted(consumer(run, ClientProperties.unobserved) ++ timeouts)

  /** The properties of the admin client with which the driver requests topics. */
  def admin: Map[String, Object] =
    LoginSecrets.inserted(
      ClientProperties.unobserved ++ ClientProperties.recovery ++ (properties -- ClientProperties.consumerOnly) ++
        timeouts
    )

  /** The properties of a reader's consumer. The defaults favour throughput, unlike Kafka's defaults, and stay within
    * limits ([[limited]]).
    */
  def reader(run: String, limits: ReadLimits): Map[String, Object] =
    LoginSecrets.inserted(consumer(run, ClientProperties.throughput) ++ ClientProperties.bounds(limits).map {
      case (key, most) =>
        // Kafka rejects a text that is not a number.
        key -> (if (number(key).isEmpty) properties.getOrElse(key, most.toString) else most.toString)
    })

  /** The limits, reduced to the values that the user has set. The number of records per poll does not apply if a poll
    * returns batches.
    */
  def limited(limits: ReadLimits): ReadLimits = {
    def least(key: String, most: Int) = wanted(key, limits).fold(most)(math.min(_, most))
    limits.copy(
      fetchBytes = least(ConsumerConfig.FETCH_MAX_BYTES_CONFIG, limits.fetchBytes),
      partitionBytes = least(ConsumerConfig.MAX_PARTITION_FETCH_BYTES_CONFIG, limits.partitionBytes),
      pollRecords = least(ConsumerConfig.MAX_POLL_RECORDS_CONFIG, limits.pollRecords)
    )
  }

  /** Properties that the user has set above the limits, as name, value and limit. */
  def above(limits: ReadLimits): Seq[(String, Int, Int)] = for {
    (key, most) <- ClientProperties.bounds(limits)
    set         <- wanted(key, limits) if set > most
  } yield (key, set, most)

  // A number of records has no meaning if a poll returns batches.
  private def wanted(key: String, limits: ReadLimits): Option[Int] =
    if (limits.batches && key == ConsumerConfig.MAX_POLL_RECORDS_CONFIG) None else number(key)

  /** These properties for readers that receive only records of committed transactions. */
  def committedOnly: ClientProperties = withIsolation("read_committed")

  /** These properties for readers that also receive records of open and aborted transactions. */
  def uncommittedToo: ClientProperties = withIsolation("read_uncommitted")

  private def withIsolation(level: String): ClientProperties =
    copy(properties = properties.updated(ConsumerConfig.ISOLATION_LEVEL_CONFIG, level))

  /** True if readers receive only records of committed transactions. */
  def readsCommitted: Boolean =
    properties.get(ConsumerConfig.ISOLATION_LEVEL_CONFIG).exists(_.trim.equalsIgnoreCase("read_committed"))

  private def consumer(run: String, defaults: Map[String, String]): Map[String, Object] =
    (defaults ++ ClientProperties.recovery ++ groupId(run) ++ properties) ++ ClientProperties.fixed

  private def groupId(run: String): Map[String, String] =
    groupIdPrefix.map(prefix => ConsumerConfig.GROUP_ID_CONFIG -> s"$prefix-$run").toMap

  // The client rejects a call timeout that is lower than the request timeout, so the request timeout is limited.
  private def timeouts: Map[String, String] = {
    val request = number(ClientProperties.RequestTimeout).getOrElse(30000)
    Map(
      ClientProperties.ApiTimeout     -> timeoutMillis.toString,
      ClientProperties.RequestTimeout -> math.min(request, timeoutMillis).toString
    )
  }

  private def number(key: String): Option[Int] = properties.get(key).flatMap(_.trim.toIntOption)

  /** True if consumers use the group protocol of KIP-848, for which Kafka's client has other classes. */
  def usesNewProtocol: Boolean =
    properties.get(ConsumerConfig.GROUP_PROTOCOL_CONFIG).exists(_.trim.equalsIgnoreCase("consumer"))

  override def toString: String =
    properties.map { case (k, v) => s"$k=${Secrets.redact(k, v)}" }.mkString("ClientProperties(", ", ", ")")
}

private[splice] object ClientProperties {

  private val ApiTimeout     = CommonClientConfigs.DEFAULT_API_TIMEOUT_MS_CONFIG
  private val RequestTimeout = CommonClientConfigs.REQUEST_TIMEOUT_MS_CONFIG

  // If a fetch requests only partitions that were read to their ends, the broker delays the response. A client has one
  // running fetch per broker. With Kafka's default, the end of each range would therefore delay all other partitions by
  // half a second.
  private val throughput = Map(
    ConsumerConfig.FETCH_MAX_WAIT_MS_CONFIG -> "10",
    ConsumerConfig.RECEIVE_BUFFER_CONFIG    -> (1 << 20).toString
  )

  private def bounds(limits: ReadLimits): Seq[(String, Int)] = Seq(
    ConsumerConfig.FETCH_MAX_BYTES_CONFIG           -> limits.fetchBytes,
    ConsumerConfig.MAX_PARTITION_FETCH_BYTES_CONFIG -> limits.partitionBytes,
    ConsumerConfig.MAX_POLL_RECORDS_CONFIG          -> limits.pollRecords
  )

  // Clients that read no records are created often. Without this setting, their metrics reporters take a third of the
  // creation time.
  private val unobserved = Map(
    CommonClientConfigs.METRIC_REPORTER_CLASSES_CONFIG -> "",
    "auto.include.jmx.reporter"                        -> "false",
    CommonClientConfigs.ENABLE_METRICS_PUSH_CONFIG     -> "false"
  )

  // By Kafka's default, a client whose known brokers have all moved never asks the bootstrap servers again (KIP-899).
  private val recovery = Map(CommonClientConfigs.METADATA_RECOVERY_STRATEGY_CONFIG -> "rebootstrap")

  private val fixed = Map[String, Object](
    ConsumerConfig.KEY_DESERIALIZER_CLASS_CONFIG   -> classOf[ByteArrayDeserializer].getName,
    ConsumerConfig.VALUE_DESERIALIZER_CLASS_CONFIG -> classOf[ByteArrayDeserializer].getName,
    ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG       -> "false",
    ConsumerConfig.AUTO_OFFSET_RESET_CONFIG        -> "none",
    ConsumerConfig.ALLOW_AUTO_CREATE_TOPICS_CONFIG -> "false"
  )

  private val consumerOnly: Set[String] =
    ConsumerConfig.configNames.asScala.toSet -- AdminClientConfig.configNames.asScala

  /** The properties that Kafka's clients define. As in Spark's source, their names are case-insensitive. Other names
    * keep their case, because a plug-in may require this case.
    */
  private val known: Map[String, String] =
    (ConsumerConfig.configNames.asScala ++ AdminClientConfig.configNames.asScala ++
      Seq("key.serializer", "value.serializer"))
      .map(name => fold(name) -> name)
      .toMap

  /** The properties that cannot be set, with the reasons. */
  private val rejected: Map[String, String] = Map(
    ConsumerConfig.AUTO_OFFSET_RESET_CONFIG ->
      "each batch reads fixed offsets. Set 'startingOffsets' to define the start of the query",
    ConsumerConfig.KEY_DESERIALIZER_CLASS_CONFIG   -> "keys are binary. Decode the column key in the query",
    ConsumerConfig.VALUE_DESERIALIZER_CLASS_CONFIG -> "values are binary. Decode the column value in the query",
    "key.serializer"                               -> "a Kafka source writes nothing. Remove this property",
    "value.serializer"                             -> "a Kafka source writes nothing. Remove this property",
    ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG       ->
      "the checkpoint stores the positions. To commit offsets to a consumer group, set 'commitToGroup'",
    ConsumerConfig.INTERCEPTOR_CLASSES_CONFIG ->
      "an interceptor may change or drop records, and a replay would then read other records. Remove this property",
    ConsumerConfig.ALLOW_AUTO_CREATE_TOPICS_CONFIG ->
      "a client that may create topics recreates a deleted topic, empty. Remove the option, and create topics before the query starts"
  )

  /** The reason why a property, without the prefix `kafka.`, cannot be set to a value; None if the value is allowed. */
  def rejection(property: String, value: String): Option[String] = {
    val name = canonical(property)
    rejected.get(name).filterNot(_ => isFixed(name, value))
  }

  private def isFixed(property: String, value: String): Boolean =
    property == ConsumerConfig.ALLOW_AUTO_CREATE_TOPICS_CONFIG && value.trim.equalsIgnoreCase("false")

  /** The client properties in the options of a source, without a check. */
  def among(options: SourceOptions): Map[String, String] = options.toMap.collect {
    case (key, value) if KafkaOptions.isClientProperty(key) => property(key) -> value
  }

  private def property(option: String): String = canonical(option.drop(KafkaOptions.ClientPrefix.length))

  /** The name of a property, without the prefix `kafka.`, in the spelling of Kafka. */
  def canonical(written: String): String = known.getOrElse(fold(written), written)

  /** Extracts the client properties from the options of a source.
    *
    * @throws splice.source.errors.SpliceOptionException
    *   when a property is set that cannot be set
    */
  def of(options: SourceOptions): ClientProperties = {
    for {
      (key, value) <- options.toMap if KafkaOptions.isClientProperty(key)
      why          <- rejection(property(key), value)
    } throw KafkaErrors.rejectedOption(options.name(key), why)
    val servers = options(KafkaOptions.Servers)
    ClientProperties(
      SortedMap.from(among(options)) + (CommonClientConfigs.BOOTSTRAP_SERVERS_CONFIG -> servers),
      options.find(KafkaOptions.GroupIdPrefix)
    )
  }
}
