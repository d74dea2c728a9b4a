// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka

import scala.annotation.varargs
import scala.collection.immutable.ListMap

import splice.kafka.internal.options.{KafkaOptions, KafkaSettings}
import splice.source.options.SourceOptions

/** Immutable builder of a Kafka source. Each method returns a new builder. Options have the names that Spark's Kafka
  * source defines.
  *
  * To set a property of the Kafka client, call `option("kafka.<setting>", value)`.
  */
final class KafkaSourceBuilder private[kafka] (entries: ListMap[String, String])
    extends KafkaBuilder[KafkaSourceBuilder](entries) {

  /** Sets the brokers to which the client connects first, as `host:port`, separated by commas. */
  def bootstrapServers(servers: String): KafkaSourceBuilder = option(KafkaOptions.Servers.key, servers)

  /** Subscribes to topics by name. */
  @varargs def topics(names: String*): KafkaSourceBuilder = option(KafkaOptions.Subscribe.key, names.mkString(","))

  /** Subscribes to all topics whose names contain a match of a Java regular expression. To match the whole name, use
    * `^` and `$`.
    */
  def topicPattern(pattern: String): KafkaSourceBuilder = option(KafkaOptions.SubscribePattern.key, pattern)

  /** Sets the end, so that the source is bounded. By default, the source has no end.
    *
    * @throws splice.source.errors.SpliceOptionException
    *   when the offsets can only be a start
    */
  def endingOffsets(end: OffsetsInitializer): KafkaSourceBuilder = endingAt(end)

  override private[kafka] def copied(options: ListMap[String, String]): KafkaSourceBuilder =
    new KafkaSourceBuilder(options)

  override private[kafka] def check(options: SourceOptions): Unit = {
    KafkaOptions.set.rejectUnknown(options)
    val _ = KafkaSettings(options)
  }
}
