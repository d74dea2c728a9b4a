// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source.options

import java.time.Duration
import java.util.regex.Pattern

import scala.util.Try

import org.apache.spark.network.util.JavaUtils

import splice.source.internal.Durations
import splice.source.options.SourceOptions.fold

/** Conversion of an option's text to a value.
  *
  * @param allowed
  *   description of the allowed texts, for errors and the reference page
  * @param parse
  *   returns the value of a text, or None if the text is not allowed
  */
final case class OptionType[A](allowed: String, parse: String => Option[A])

object OptionType {

  val Text: OptionType[String] = OptionType("any string", Some(_))

  val Bool: OptionType[Boolean] = OptionType("true or false", fold(_).toBooleanOption)

  val PositiveInt: OptionType[Int] = OptionType("a whole number, 1 or more", _.trim.toIntOption.filter(_ > 0))

  val PositiveLong: OptionType[Long] = OptionType("a whole number, 1 or more", _.trim.toLongOption.filter(_ > 0))

  val Millis: OptionType[Long] =
    OptionType("milliseconds since 1970-01-01T00:00:00Z, 0 or more", _.trim.toLongOption.filter(_ >= 0))

  val Regex: OptionType[String] = OptionType(
    "a Java regular expression",
    t => Try(Pattern.compile(t.trim)).toOption.map(_.pattern).filter(_.nonEmpty)
  )

  /** Number of bytes in Spark's notation: `134217728`, `128m`, `1g`. */
  val Bytes: OptionType[Long] =
    OptionType(
      "a size such as 134217728, 128m or 1g",
      t => Try(JavaUtils.byteStringAsBytes(t.trim)).toOption.filter(_ > 0)
    )

  /** Duration: `250ms`, `10m`, `1h`, `2d`, or an interval in Spark's notation, such as `10 minutes`. */
  val Time: OptionType[Duration] = OptionType("a duration such as 250ms, 30s, 10m, 1h or 2d", Durations.parse)

  /** Duration in the notation of [[Time]]. A number without a unit is in milliseconds. */
  val TimeOrMillis: OptionType[Duration] =
    OptionType(s"${Time.allowed}, or milliseconds", Durations.parseMillis)

  /** Returns a type whose allowed texts are the given words, ignoring case. */
  def choice[A](values: (String, A)*): OptionType[A] = {
    val byName = values.map { case (k, v) => fold(k) -> v }.toMap
    OptionType(values.map(_._1).mkString(", "), t => byName.get(fold(t.trim)))
  }
}
