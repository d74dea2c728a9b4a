// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka

import java.time.Duration
import java.util.{Map => JMap}

import scala.collection.immutable.ListMap
import scala.jdk.CollectionConverters._

import splice.kafka.internal.options.{AdmissionOptions, KafkaOptions, PolicyOptions}
import splice.source.SourceSpec
import splice.source.errors.OptionErrors
import splice.source.options.{CommonOptions, OptionSetters, SourceOptions}

/** Base class of the immutable builders of Kafka sources. Each method returns a new builder. `This` is the type of the
  * builder, so that calls can be chained.
  */
abstract class KafkaBuilder[This <: KafkaBuilder[This]] private[kafka] (chosen: ListMap[String, String])
    extends OptionSetters[This] {
  this: This =>

  /** Sets the start on every cluster. By default, a stream starts at the latest records and a batch at the earliest. */
  def startingOffsets(start: OffsetsInitializer): This = starting("", start)

  /** Commits the offsets of Spark's committed batches to a consumer group on every cluster, for tools that show lag. By
    * default, the source commits nothing.
    */
  def commitToGroup(group: String): This =
    option(s"${KafkaOptions.ClientPrefix}group.id", group).option(PolicyOptions.CommitToGroup.key, "true")

  /** Sets the policy that shares a limited batch among partitions: `lag` (default), `equal` or `eventTime`. With
    * `eventTime`, a batch ends at one timestamp in all partitions.
    */
  def admission(policy: String): This = option(AdmissionOptions.Admission.key, policy)

  /** Sets how far a timestamp may be ahead of the clock of the driver with `admission("eventTime")`. By default, one
    * minute.
    */
  def maxAhead(time: Duration): This = option(AdmissionOptions.MaxAhead.key, s"${time.toMillis}ms")

  /** Sets the policy for later records with `admission("eventTime")`: `fail`, `hold` (default) or `read`. */
  def onFutureTime(policy: String): This = option(AdmissionOptions.FutureTime.key, policy)

  /** Sets one option. If an option is set several times, the last value applies. */
  override def option(key: String, value: String): This = copied(chosen + (key -> value))

  /** Sets properties of the Kafka client, of every cluster, by Kafka's names, without `kafka.`. */
  def properties(client: Map[String, String]): This =
    options(client.map { case (name, value) => s"${KafkaOptions.ClientPrefix}$name" -> value })

  /** Sets properties of the Kafka client, for Java. */
  def properties(client: JMap[String, String]): This = properties(client.asScala.toMap)

  /** Checks the options without any request to a server.
    *
    * @throws splice.source.errors.SpliceOptionException
    *   when an option is missing or unknown, has an invalid value, or contradicts another option
    */
  def build(): SourceSpec = {
    check(SourceOptions(chosen))
    SourceSpec(chosen)
  }

  /** Returns a builder with these options. */
  private[kafka] def copied(options: ListMap[String, String]): This

  private[kafka] def check(options: SourceOptions): Unit

  private[kafka] def starting(prefix: String, start: OffsetsInitializer): This =
    copied(chosen -- KafkaBuilder.Starts.map(key => s"$prefix$key"))
      .options(start.starting.map { case (key, value) => s"$prefix$key" -> value })

  private[kafka] def endingAt(end: OffsetsInitializer): This =
    copied(chosen -- KafkaBuilder.Ends).options(end.ending.getOrElse {
      val option = KafkaOptions.Ending
      throw OptionErrors.invalidValue(option.key, end.starting.values.mkString(", "), option.kind.allowed, option.doc)
    })
}

private[kafka] object KafkaBuilder {

  /** Options of a builder of which no method has been called. */
  def first(kind: String): ListMap[String, String] = ListMap(CommonOptions.Source.key -> kind)

  private val Starts =
    Seq(KafkaOptions.Starting, KafkaOptions.StartingTimestamp, KafkaOptions.StartingTimestamps, KafkaOptions.Reset)
      .map(_.key)

  private val Ends = Seq(KafkaOptions.Ending, KafkaOptions.EndingTimestamp, KafkaOptions.EndingTimestamps).map(_.key)
}
