// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.options

import splice.kafka.Place
import splice.kafka.dynamic.internal.split.ClusterTopic
import splice.kafka.internal.errors.KafkaErrors
import splice.kafka.internal.options.{ClientProperties, KafkaOptions, KafkaSettings}
import splice.source.options.SourceOptions
import splice.source.options.SourceOptions.fold

/** Starts of single streams: the options `stream.<name>.<option>`. */
private[splice] object StreamStarts {

  /** Prefix of options of a single stream. */
  val Prefix = "stream."

  /** Options that set a start. */
  val starts: Seq[String] =
    Seq(KafkaOptions.Starting, KafkaOptions.StartingTimestamp, KafkaOptions.StartingTimestamps).map(_.key)

  /** All options that can be set for one stream. */
  val allowed: Seq[String] = starts ++ Seq(KafkaOptions.TimestampStrategy.key, KafkaOptions.Reset.key)

  /** Returns the start that options set for one stream; None if no option sets it. Related options that are not set for
    * the stream apply as set for all streams.
    */
  def of(options: SourceOptions, stream: String, client: ClientProperties): Option[Place] =
    KafkaSettings.start(options.scope(s"$Prefix$stream"), client, options)

  /** Returns the start of one topic of a stream. Offsets and timestamps of the stream's options apply by topic name, on
    * every cluster.
    */
  def of(options: SourceOptions, stream: String, client: ClientProperties, topic: String): Option[Place] =
    of(options, stream, client).map {
      case Place.Exact(offsets, _)    => Place.Exact(offsets.filter(_._1.topic == topic))
      case Place.AtTimes(times, none) => Place.AtTimes(times.filter(_._1.topic == topic), none)
      case other                      => other
    }

  /** Returns the start that the metadata sets for a topic of a stream, or None if the metadata sets no start. */
  def of(start: Place, topic: ClusterTopic): Option[Place] = start match {
    case offsets: Place.Offsets =>
      Some(offsets.of(topic.cluster, topic.topic).offsets).filter(_.nonEmpty).map(Place.Exact(_, isWhole = false))
    case other => Some(other)
  }

  /** Checks the options of single streams.
    *
    * @throws splice.source.errors.SpliceOptionException
    *   if an option cannot be set for one stream or has an invalid value. Also if the option names a stream that the
    *   query does not read
    */
  def check(options: SourceOptions, selection: StreamSelection, client: ClientProperties): Unit =
    options.keys.filter(isOne).foreach { key =>
      val stream =
        allowed.find(option => fold(key).endsWith(s".${fold(option)}") && key.length > Prefix.length + option.length)
          .map(option => key.drop(Prefix.length).dropRight(option.length + 1))
          .getOrElse(throw KafkaErrors.rejectedOption(
            options.name(key),
            s"only these options can be set for one stream, as '$Prefix<name>.<option>': ${allowed.mkString(", ")}. " +
              "Remove this option"
          ))
      selection match {
        case StreamSelection.Names(names) if !names.exists(fold(_) == fold(stream)) =>
          throw KafkaErrors.rejectedOption(
            options.name(key),
            s"the stream '$stream' is not read; '${options.name(DynamicOptions.Streams.key)}' names " +
              s"${names.mkString(", ")}. Remove this option, or add the stream"
          )
        case _ => ()
      }
      val _ = of(options, stream, client)
    }

  def isOne(key: String): Boolean = fold(key).startsWith(Prefix)

  /** Returns true if an option sets the start of a stream or of a cluster. */
  def isStart(key: String): Boolean = (isOne(key) || fold(key).startsWith(DynamicOptions.ClusterPrefix)) &&
    starts.exists(option => fold(key).endsWith(s".${fold(option)}"))
}
