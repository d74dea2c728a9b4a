// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source

import java.time.Duration
import java.util.Locale

import scala.util.Try

/** Lengths of time as options write them. */
object Durations {

  private val unit = Map(
    Seq("ms", "millisecond", "milliseconds") -> 1L,
    Seq("s", "sec", "second", "seconds")     -> 1000L,
    Seq("m", "min", "minute", "minutes")     -> 60000L,
    Seq("h", "hour", "hours")                -> 3600000L,
    Seq("d", "day", "days")                  -> 86400000L,
    Seq("w", "week", "weeks")                -> 604800000L
  ).flatMap { case (names, millis) => names.map(_ -> millis) }

  private val part = "\\s*(\\d+)\\s*([a-z]*)".r

  /** One or more numbers with their units, added up; `interval` may stand in front, as in SQL. None when it is not one. */
  def parse(text: String): Option[Duration] = {
    val words = text.toLowerCase(Locale.ROOT).trim.stripPrefix("interval").trim
    val parts = part.findAllMatchIn(words).toSeq
    val whole = parts.map(_.matched).mkString.trim == words
    if (parts.isEmpty || !whole) None
    else
      Try(
        parts.map(p => Math.multiplyExact(p.group(1).toLong, unit(p.group(2)))).foldLeft(0L)(Math.addExact(_, _))
      ).toOption.map(Duration.ofMillis)
  }
}
