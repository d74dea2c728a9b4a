// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.options

import splice.kafka.dynamic.internal.split.ClusterTopic
import splice.kafka.dynamic.{StreamCutover, StreamPlace}
import splice.kafka.internal.errors.KafkaErrors
import splice.kafka.internal.options.{ClientProperties, KafkaOptions, KafkaSettings, NoRecordAtTime, StartingOffsets}
import splice.source.options.SourceOptions
import splice.source.options.SourceOptions.fold

/** Where streams begin that begin elsewhere than the others: the options `stream.<name>.<option>`. */
private[splice] object StreamStarts {

  /** What stands before the name of a stream. */
  val Prefix = "stream."

  /** Those that say a start. */
  val starts: Seq[String] =
    Seq(KafkaOptions.Starting, KafkaOptions.StartingTimestamp, KafkaOptions.StartingTimestamps).map(_.key)

  /** All that may be said of a stream. */
  val allowed: Seq[String] = starts ++ Seq(KafkaOptions.TimestampStrategy.key, KafkaOptions.Reset.key)

  /** Where a stream begins, if that is said of it alone. What is not said of it is as for all. */
  def of(options: SourceOptions, stream: String, client: ClientProperties): Option[StartingOffsets] =
    KafkaSettings.start(options.scope(s"$Prefix$stream"), client, options)

  /** The same for one of its topics, where offsets or times may be those of all, whatever cluster they are on. */
  def of(options: SourceOptions, stream: String, client: ClientProperties, topic: String): Option[StartingOffsets] =
    of(options, stream, client).map {
      case StartingOffsets.Exact(offsets, _)    => StartingOffsets.Exact(offsets.filter(_._1.topic == topic))
      case StartingOffsets.AtTimes(times, none) => StartingOffsets.AtTimes(times.filter(_._1.topic == topic), none)
      case other                                => other
    }

  /** The start that the metadata sets for a topic of a stream, if it sets one. */
  def of(start: StreamPlace, topic: ClusterTopic): Option[StartingOffsets] = start match {
    case StreamPlace.Earliest           => Some(StartingOffsets.Earliest)
    case StreamPlace.Latest             => Some(StartingOffsets.Latest)
    case time: StreamCutover.At         => Some(StartingOffsets.AtTime(time.millis, NoRecordAtTime.Latest))
    case offsets: StreamCutover.Offsets =>
      Some(offsets.of(topic).offsets).filter(_.nonEmpty).map(StartingOffsets.Exact(_, isWhole = false))
  }

  /** @throws splice.source.errors.SpliceOptionException
    *   when something else is said of a stream, or something wrong, or of a stream that is not read
    */
  def check(options: SourceOptions, selection: StreamSelection, client: ClientProperties): Unit =
    options.keys.filter(isOne).foreach { key =>
      val stream =
        allowed.find(option => fold(key).endsWith(s".${fold(option)}") && key.length > Prefix.length + option.length)
          .map(option => key.drop(Prefix.length).dropRight(option.length + 1))
          .getOrElse(throw KafkaErrors.refusedOption(
            options.name(key),
            s"of a stream only these can be said, as '$Prefix<name>.<option>': ${allowed.mkString(", ")}"
          ))
      selection match {
        case StreamSelection.Names(names) if !names.exists(fold(_) == fold(stream)) =>
          throw KafkaErrors.refusedOption(
            options.name(key),
            s"the stream '$stream' is not read; '${options.name(DynamicOptions.Streams.key)}' names ${names.mkString(", ")}"
          )
        case _ => ()
      }
      val _ = of(options, stream, client)
    }

  def isOne(key: String): Boolean = fold(key).startsWith(Prefix)

  /** Whether an option says where a stream, or what is read of a cluster, begins. */
  def isStart(key: String): Boolean = (isOne(key) || fold(key).startsWith(DynamicOptions.ClusterPrefix)) &&
    starts.exists(option => fold(key).endsWith(s".${fold(option)}"))
}
