// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.document

import java.time.{Instant, OffsetDateTime}

import scala.collection.immutable.SortedMap
import scala.util.Try

import splice.kafka.dynamic.{KafkaStream, StreamCutover, StreamPlace}
import splice.source.LogPartition
import splice.source.options.OptionType

/** Parses the sections `cutovers`, `starts` and `stops` of a [[MetadataDocument]]:
  * {{{
  * orders: {timestamp: "2026-01-01T00:00:00Z", lateness: 30s}
  * payments: {offsets: {east: {payments: {"0": 1200}}, west: {payments: {"0": 80}}}}
  *
  * refunds: latest }}}
  */
private[splice] object PlaceSections {

  /** Returns the cutovers by the name of the stream. */
  def cutovers(entries: Seq[(String, YamlNode)], streams: Map[String, KafkaStream]): Map[String, StreamCutover] =
    ofStreams(entries, streams) { (value, stream) =>
      cutover(value, isLate = true)(StreamPlace.foreign(_, stream))
    }

  /** Returns the starts by the name of the stream. */
  def starts(entries: Seq[(String, YamlNode)], streams: Map[String, KafkaStream]): Map[String, StreamPlace] =
    ofStreams(entries, streams)(place("earliest" -> StreamPlace.Earliest, "latest" -> StreamPlace.Latest))

  /** Returns the stops by the name of the stream. */
  def stops(entries: Seq[(String, YamlNode)], streams: Map[String, KafkaStream]): Map[String, StreamPlace] =
    ofStreams(entries, streams)(place("latest" -> StreamPlace.Latest))

  /** Returns the stream of an entry. */
  def stream(name: String, at: YamlNode, streams: Map[String, KafkaStream]): KafkaStream =
    streams.getOrElse(
      name,
      at.wrong(s"stream '$name' does not exist; the streams are ${streams.keys.toSeq.sorted.mkString(", ")}")
    )

  private def ofStreams[A](entries: Seq[(String, YamlNode)], streams: Map[String, KafkaStream])(
      read: (YamlNode, KafkaStream) => A
  ): Map[String, A] =
    entries.map { case (name, value) => name -> read(value, stream(name, value, streams)) }.toMap

  private def place(words: (String, StreamPlace)*)(value: YamlNode, stream: KafkaStream): StreamPlace =
    if (value.isObject) {
      val isStop = !words.exists(_._2 == StreamPlace.Earliest)
      cutover(value, isLate = isStop)(StreamPlace.misfit(_, stream, isStop))
    } else
      words.toMap.getOrElse(
        value.text,
        value.wrong(s"'${value.text}' is not a valid value. Use ${words.map(_._1).mkString(", ")}, " +
          "an object with 'timestamp', or an object with 'offsets'")
      )

  /** @param isLate
    *   true if `lateness` is allowed
    * @param misfit
    *   returns the reason why offsets do not match the topics of the stream; None if the offsets match
    */
  private def cutover(value: YamlNode, isLate: Boolean)(
      misfit: StreamCutover.Offsets => Option[String]
  ): StreamCutover = {
    val parts = value.only(Seq("timestamp", "offsets") ++ Option.when(isLate)("lateness"): _*)
    (parts.get("timestamp"), parts.get("offsets")) match {
      case (Some(at), None) => StreamCutover.At(time(at), parts.get("lateness").fold(StreamCutover.Lateness)(duration))
      case (None, Some(at)) =>
        parts.get("lateness").foreach(_.wrong("'lateness' belongs to 'timestamp'"))
        val result = offsets(at)
        misfit(result).foreach(at.wrong)
        result
      case _ => value.wrong("exactly one of 'timestamp' and 'offsets' is needed")
    }
  }

  private def time(at: YamlNode): Instant = {
    val text = at.text
    text.toLongOption.filter(_ >= 0).map(Instant.ofEpochMilli(_))
      .orElse(Try(OffsetDateTime.parse(text).toInstant).toOption)
      .getOrElse(at.wrong(
        s"'$text' is not a valid time. Use a time such as 2026-01-01T00:00:00Z, or milliseconds since 1970"
      ))
  }

  private def duration(at: YamlNode) = {
    val text = at.text
    OptionType.Time.parse(text).getOrElse(at.wrong(s"'$text' is not ${OptionType.Time.allowed}"))
  }

  private def offsets(at: YamlNode): StreamCutover.Offsets =
    StreamCutover.Offsets(SortedMap.from(at.fields.map { case (cluster, topics) =>
      cluster -> SortedMap.from(topics.fields.flatMap { case (topic, partitions) =>
        partitions.fields.map { case (number, offset) =>
          val partition = number.toIntOption.filter(_ >= 0).getOrElse(offset.wrong(s"'$number' is not a partition"))
          LogPartition(topic, partition) -> offset.number
        }
      })
    }))
}
