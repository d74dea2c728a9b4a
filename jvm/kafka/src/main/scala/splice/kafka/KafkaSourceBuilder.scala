// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka

import scala.annotation.varargs

import splice.kafka.options.{KafkaOptions, KafkaSettings}
import splice.source.SourceOptions

/** Builds a Kafka source; options and their names are those of Spark's own Kafka source.
  *
  * Any setting of the Kafka client goes through as `option("kafka.<setting>", value)`. Not for use by several threads at once.
  */
final class KafkaSourceBuilder private[kafka] extends KafkaBuilder[KafkaSourceBuilder](KafkaSource.Kind) {

  /** The brokers that the client asks first, as `host:port`, several separated by commas. */
  def bootstrapServers(servers: String): KafkaSourceBuilder = option(KafkaOptions.Servers.key, servers)

  /** Subscribes to topics by name. */
  @varargs def topics(names: String*): KafkaSourceBuilder = option(KafkaOptions.Subscribe.key, names.mkString(","))

  /** Subscribes to all topics whose name holds a match of a Java regular expression; `^` and `$` bind it to the whole name. */
  def topicPattern(pattern: String): KafkaSourceBuilder = option(KafkaOptions.SubscribePattern.key, pattern)

  /** Fixes the end, which makes the source bounded; by default there is none.
    *
    * @throws splice.source.SpliceOptionException
    *   when it can be a start only
    */
  def endingOffsets(end: OffsetsInitializer): KafkaSourceBuilder = endingAt(end)

  override private[kafka] def check(options: SourceOptions): Unit = {
    KafkaOptions.set.refuseUnknown(options)
    val _ = KafkaSettings(options)
  }
}
