// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source.internal

import java.time.Duration
import java.util.concurrent.TimeUnit.{DAYS, MICROSECONDS, MILLISECONDS}

import scala.util.Try

import org.apache.spark.network.util.JavaUtils
import org.apache.spark.sql.catalyst.util.IntervalUtils
import org.apache.spark.unsafe.types.UTF8String

/** Parser for durations in the texts of options. Spark's parsers support both forms. */
private[splice] object Durations {

  /** Parses a short form such as `250ms` or `2d`, or an interval such as `10 minutes` or `interval 1 hour`. Returns
    * None if the text has no unit, is negative, contains months, or has another form.
    */
  def parse(text: String): Option[Duration] = {
    val trimmed = text.trim
    val short   = Option.when(trimmed.lastOption.exists(_.isLetter))(trimmed).flatMap(millis)
    short.orElse(Try(interval(trimmed)).toOption).filter(t => t >= 0 && t < Long.MaxValue).map(Duration.ofMillis)
  }

  /** Parses a duration as [[parse]] does. A number without a unit is in milliseconds, as in the options of Spark's
    * Kafka source.
    */
  def parseMillis(text: String): Option[Duration] =
    text.trim.toLongOption.filter(_ >= 0).map(Duration.ofMillis).orElse(parse(text))

  private def millis(text: String): Option[Long] = Try(JavaUtils.timeStringAs(text, MILLISECONDS)).toOption

  private def interval(text: String): Long = {
    val parsed = IntervalUtils.stringToInterval(UTF8String.fromString(text))
    require(parsed.months == 0, "a month has no fixed length")
    Math.addExact(DAYS.toMillis(parsed.days.toLong), MICROSECONDS.toMillis(parsed.microseconds))
  }
}
