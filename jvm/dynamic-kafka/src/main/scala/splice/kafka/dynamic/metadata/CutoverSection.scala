// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.metadata

import java.time.{Instant, OffsetDateTime}

import scala.collection.immutable.SortedMap
import scala.util.Try

import splice.kafka.dynamic.{KafkaStream, StreamCutover}
import splice.source.{LogPartition, OptionType}

/** The section `cutovers` of a [[MetadataDocument]]:
  * {{{
  * orders: {timestamp: "2026-01-01T00:00:00Z", lateness: 30s}
  * payments: {offsets: {east: {payments: {"0": 1200}}, west: {payments: {"0": 80}}}}
  * }}}
  */
private[metadata] object CutoverSection {

  /** By the name of the stream. */
  def apply(entries: Seq[(String, Located)], streams: Seq[KafkaStream]): Map[String, StreamCutover] =
    entries.map { case (name, value) =>
      val stream = streams.find(_.name == name).getOrElse(value.wrong(
        s"there is no stream '$name'; there are ${streams.map(_.name).sorted.mkString(", ")}"
      ))
      name -> one(value, stream)
    }.toMap

  private def one(value: Located, stream: KafkaStream): StreamCutover = {
    val parts = value.only("timestamp", "lateness", "offsets")
    (parts.get("timestamp"), parts.get("offsets")) match {
      case (Some(at), None) => StreamCutover.At(time(at), parts.get("lateness").fold(StreamCutover.Lateness)(duration))
      case (None, Some(at)) =>
        parts.get("lateness").foreach(_.wrong("it belongs to 'timestamp'"))
        offsets(at, stream)
      case _ => value.wrong("exactly one of 'timestamp' and 'offsets' is needed")
    }
  }

  private def time(at: Located): Instant = {
    val text = at.text
    text.toLongOption.filter(_ >= 0).map(Instant.ofEpochMilli(_))
      .orElse(Try(OffsetDateTime.parse(text).toInstant).toOption)
      .getOrElse(at.wrong(
        s"'$text' is no time such as 2026-01-01T00:00:00Z, and no milliseconds since 1970-01-01T00:00:00Z"
      ))
  }

  private def duration(at: Located) = {
    val text = at.text
    OptionType.Time.parse(text).getOrElse(at.wrong(s"'$text' is not ${OptionType.Time.allowed}"))
  }

  private def offsets(at: Located, stream: KafkaStream): StreamCutover.Offsets = {
    val clusters = at.fields.map { case (cluster, topics) =>
      cluster -> SortedMap.from(topics.fields.flatMap { case (topic, partitions) =>
        partitions.fields.map { case (number, offset) =>
          val partition = number.toIntOption.filter(_ >= 0).getOrElse(offset.wrong(s"'$number' is no partition"))
          LogPartition(topic, partition) -> offset.number
        }
      })
    }
    val named = for ((cluster, all) <- clusters.toSet; p <- all.keySet) yield cluster -> p.topic
    if (!named.exists { case (cluster, topic) => stream.topics.get(cluster).exists(_(topic)) })
      at.wrong(s"it names no topic on which the stream '${stream.name}' lies")
    StreamCutover.Offsets(SortedMap.from(clusters))
  }
}
