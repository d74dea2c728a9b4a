// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka

import java.util.{Map => JMap}

import scala.collection.immutable.ListMap
import scala.jdk.CollectionConverters._

import splice.kafka.options.{KafkaOptions, PolicyOptions}
import splice.source.{CommonOptions, OptionErrors, SourceOptions, SourceSpec}

/** What builders of sources of Kafka's records share. `This` is the builder itself, so that calls chain. */
abstract class KafkaBuilder[This <: KafkaBuilder[This]] private[kafka] (kind: String) { this: This =>

  private var chosen = ListMap(CommonOptions.Source.key -> kind)

  /** Fixes the start, on every cluster; by default a stream starts at the latest records, a batch at the earliest. */
  def startingOffsets(start: OffsetsInitializer): This = starting("", start)

  /** Commits to a consumer group, of every cluster, what Spark has committed, for tools that show lag; by default nothing is. */
  def commitToGroup(group: String): This =
    option(s"${KafkaOptions.ClientPrefix}group.id", group).option(PolicyOptions.CommitToGroup.key, "true")

  /** Sets one option. */
  def option(key: String, value: String): This = {
    chosen += key -> value
    this
  }

  def option(key: String, value: Boolean): This = option(key, value.toString)

  def option(key: String, value: Long): This = option(key, value.toString)

  def option(key: String, value: Double): This = option(key, value.toString)

  /** Sets properties of the Kafka client, of every cluster, by Kafka's names, without `kafka.`. */
  def properties(client: Map[String, String]): This =
    options(client.map { case (name, value) => s"${KafkaOptions.ClientPrefix}$name" -> value })

  /** Sets properties of the Kafka client, for Java. */
  def properties(client: JMap[String, String]): This = properties(client.asScala.toMap)

  /** Sets several options. */
  def options(more: Map[String, String]): This = {
    chosen ++= more
    this
  }

  /** Sets several options, for Java. */
  def options(more: JMap[String, String]): This = options(more.asScala.toMap)

  /** Checks all that can be said without asking a server.
    *
    * @throws splice.source.SpliceOptionException
    *   when options are missing, unknown, conflict, or say what they must not
    */
  def build(): SourceSpec = {
    check(SourceOptions(chosen))
    SourceSpec(chosen)
  }

  private[kafka] def check(options: SourceOptions): Unit

  private[kafka] def starting(prefix: String, start: OffsetsInitializer): This = {
    chosen --= KafkaBuilder.Starts.map(key => s"$prefix$key")
    options(start.starting.map { case (key, value) => s"$prefix$key" -> value })
  }

  private[kafka] def endingAt(end: OffsetsInitializer): This = {
    chosen --= KafkaBuilder.Ends
    options(end.ending.getOrElse {
      val option = KafkaOptions.Ending
      throw OptionErrors.invalidValue(option.key, end.starting.values.mkString(", "), option.kind.allowed, option.doc)
    })
  }
}

private object KafkaBuilder {

  private val Starts =
    Seq(KafkaOptions.Starting, KafkaOptions.StartingTimestamp, KafkaOptions.StartingTimestamps, KafkaOptions.Reset)
      .map(_.key)

  private val Ends = Seq(KafkaOptions.Ending, KafkaOptions.EndingTimestamp, KafkaOptions.EndingTimestamps).map(_.key)
}
