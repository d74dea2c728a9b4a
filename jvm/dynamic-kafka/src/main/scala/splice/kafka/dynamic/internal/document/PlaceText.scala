// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.document

import java.time.{Duration, Instant, OffsetDateTime}

import scala.collection.immutable.SortedMap
import scala.util.Try

import splice.kafka.Place
import splice.source.LogPartition
import splice.source.options.OptionType

/** Parses a place of the sections `cutovers`, `starts` and `stops` of a [[MetadataDocument]]:
  * {{{
  * orders: {timestamp: "2026-01-01T00:00:00Z", lateness: 30s}
  * payments: {offsets: {east: {payments: {"0": 1200}}, west: {payments: {"0": 80}}}}
  * refunds: latest
  * }}}
  */
private[document] object PlaceText {

  private val Words = Map("starts" -> Seq("earliest", "latest"), "stops" -> Seq("latest"), "cutovers" -> Nil)

  def read(section: String, at: YamlNode): Place = {
    val words = Words(section)
    if (at.isObject) place(at, section != "starts")
    else if (words.isEmpty) at.wrong("not an object")
    else
      Option(at.text).filter(words.contains).flatMap(Place.ofWord).getOrElse(
        at.wrong(s"'${at.text}' is not a valid value. Use ${words.mkString(", ")}, " +
          "an object with 'timestamp', or an object with 'offsets'")
      )
  }

  /** @param isLate
    *   true if `lateness` is allowed
    */
  private def place(value: YamlNode, isLate: Boolean): Place = {
    val parts = value.only(Seq("timestamp", "offsets") ++ Option.when(isLate)("lateness"): _*)
    (parts.get("timestamp"), parts.get("offsets")) match {
      case (Some(at), None) => Place.At(time(at), parts.get("lateness").fold(Place.Lateness)(duration))
      case (None, Some(at)) =>
        parts.get("lateness").foreach(_.wrong("'lateness' belongs to 'timestamp'"))
        offsets(at)
      case _ => value.wrong("exactly one of 'timestamp' and 'offsets' is needed")
    }
  }

  private def time(at: YamlNode): Instant = {
    val text = at.text
    OptionType.Millis.parse(text).map(Instant.ofEpochMilli(_))
      .orElse(Try(OffsetDateTime.parse(text).toInstant).toOption)
      .getOrElse(at.wrong(
        s"'$text' is not a valid time. Use a time such as 2026-01-01T00:00:00Z, or milliseconds since 1970"
      ))
  }

  private def duration(at: YamlNode): Duration =
    OptionType.Time.parse(at.text).getOrElse(at.wrong(s"'${at.text}' is not ${OptionType.Time.allowed}"))

  private def offsets(at: YamlNode): Place.Offsets =
    Place.Offsets(SortedMap.from(at.fields.map { case (cluster, topics) =>
      cluster -> SortedMap.from(topics.fields.flatMap { case (topic, partitions) =>
        partitions.fields.map { case (number, offset) =>
          val partition = number.toIntOption.filter(_ >= 0).getOrElse(offset.wrong(s"'$number' is not a partition"))
          LogPartition(topic, partition) -> offset.number
        }
      })
    }))
}
