// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka

import java.util.{Map => JMap}

import scala.annotation.varargs
import scala.collection.immutable.ListMap
import scala.jdk.CollectionConverters._

import splice.kafka.options.{KafkaOptions, KafkaSettings, PolicyOptions}
import splice.source.{CommonOptions, OptionErrors, SourceOptions, SourceSpec}

/** Builds a Kafka source; options and their names are those of Spark's own Kafka source.
  *
  * Any setting of the Kafka client goes through as `option("kafka.<setting>", value)`. Not for use by several threads at once.
  */
final class KafkaSourceBuilder private[kafka] {

  private var chosen = ListMap(CommonOptions.Source.key -> KafkaSource.Kind)

  /** The brokers that the client asks first, as `host:port`, several separated by commas. */
  def bootstrapServers(servers: String): KafkaSourceBuilder = option(KafkaOptions.Servers.key, servers)

  /** Subscribes to topics by name. */
  @varargs def topics(names: String*): KafkaSourceBuilder = option(KafkaOptions.Subscribe.key, names.mkString(","))

  /** Subscribes to all topics whose name holds a match of a Java regular expression; `^` and `$` bind it to the whole name. */
  def topicPattern(pattern: String): KafkaSourceBuilder = option(KafkaOptions.SubscribePattern.key, pattern)

  /** Fixes the start; by default a stream starts at the latest records, a batch at the earliest. */
  def startingOffsets(start: OffsetsInitializer): KafkaSourceBuilder = {
    chosen --=
      Seq(KafkaOptions.Starting, KafkaOptions.StartingTimestamp, KafkaOptions.StartingTimestamps, KafkaOptions.Reset)
        .map(_.key)
    chosen ++= start.starting
    this
  }

  /** Fixes the end, which makes the source bounded; by default there is none.
    *
    * @throws splice.source.SpliceOptionException
    *   when it can be a start only
    */
  def endingOffsets(end: OffsetsInitializer): KafkaSourceBuilder = {
    chosen --= Seq(KafkaOptions.Ending, KafkaOptions.EndingTimestamp, KafkaOptions.EndingTimestamps).map(_.key)
    chosen ++= end.ending.getOrElse {
      val option = KafkaOptions.Ending
      throw OptionErrors.invalidValue(option.key, end.starting.values.mkString(", "), option.kind.allowed, option.doc)
    }
    this
  }

  /** Commits to a consumer group what Spark has committed, for tools that show lag; by default nothing is. */
  def commitToGroup(group: String): KafkaSourceBuilder =
    option(s"${KafkaOptions.ClientPrefix}group.id", group).option(PolicyOptions.CommitToGroup.key, "true")

  /** Sets one option. */
  def option(key: String, value: String): KafkaSourceBuilder = {
    chosen += key -> value
    this
  }

  /** Sets several options. */
  def options(more: Map[String, String]): KafkaSourceBuilder = {
    chosen ++= more
    this
  }

  /** Sets several options, for Java. */
  def options(more: JMap[String, String]): KafkaSourceBuilder = options(more.asScala.toMap)

  /** Checks all that can be said without asking a broker.
    *
    * @throws splice.source.SpliceOptionException
    *   when options are missing, unknown, conflict, or say what they must not
    */
  def build(): SourceSpec = {
    val options = SourceOptions(chosen)
    KafkaOptions.set.refuseUnknown(options)
    val _ = KafkaSettings(options)
    SourceSpec(chosen)
  }
}
