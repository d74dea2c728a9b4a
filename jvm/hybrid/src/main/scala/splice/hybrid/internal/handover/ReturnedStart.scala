// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.handover

import java.time.Instant

import scala.collection.immutable.SortedMap

import com.fasterxml.jackson.databind.JsonNode

import splice.hybrid.internal.chain.Leg
import splice.hybrid.internal.errors.{HandOverErrors, Ranges}
import splice.source.StartPosition.{Exact, Offsets, Time}
import splice.source.errors.SpliceException
import splice.source.internal.entries.Json
import splice.source.log.LogRange
import splice.source.{LogPartition, OffsetRanges, StartPosition}

/** Checks of the start that a rule has returned as JSON.
  *
  * @param rule
  *   name of the rule in errors
  */
final private[hybrid] class ReturnedStart(before: Leg, leg: Leg, rule: String, now: Instant) {

  private type Log = SortedMap[LogPartition, LogRange]

  /** @throws splice.source.errors.SpliceException if the start is invalid, or would skip records */
  def read(result: String, log: Log): StartPosition = {
    def invalid(why: String) = HandOverErrors.invalidStart(before.name, leg.name, rule, result, why)
    Json.read(result).map(Json.fields) match {
      case Some(Seq("timestamp" -> time)) if leg.source.beginsByTime =>
        Time(millis(time).fold(why => throw invalid(why), identity), leg.onGap)
      case Some(Seq("offsets" -> topics)) if leg.source.beginsByOffsets =>
        offsets(partitions(topics).fold(why => throw invalid(why), identity), log, invalid)
      case Some(Seq("position" -> position)) if leg.source.beginsByPosition =>
        Exact(if (position.isTextual) position.asText else Json.write(position))
      case _ => throw invalid(s"the result must be a JSON object with ${ReturnedStart.accepted(leg)}")
    }
  }

  private def millis(time: JsonNode): Either[String, Long] =
    if (!time.isIntegralNumber || !time.canConvertToLong || time.asLong < 0)
      Left(s"'timestamp' is ${Json.write(time)}, and must be milliseconds since 1970-01-01T00:00:00Z")
    else if (time.asLong > now.toEpochMilli)
      Left(
        s"'timestamp' is ${Instant.ofEpochMilli(time.asLong)}, after now ($now), so all rows before that time would be skipped"
      )
    else Right(time.asLong)

  /** Offsets per partition in an object of offsets by partition for each topic. Left = why the object is invalid. */
  def partitions(topics: JsonNode): Either[String, Seq[(LogPartition, Long)]] = {
    val all = for {
      (topic, byPartition) <- Json.fields(topics)
      (partition, offset)  <- Json.fields(byPartition)
    } yield (topic, partition.toIntOption.filter(_ >= 0), offset)
    val isNested = topics.isObject && Json.fields(topics).forall(_._2.isObject)
    val wrong    = all.find { case (_, partition, offset) =>
      partition.isEmpty || !offset.isIntegralNumber || !offset.canConvertToLong || offset.asLong < 0
    }
    if (!isNested) Left("'offsets' must have an object of offsets by partition for each topic")
    else if (wrong.nonEmpty) Left("a partition and an offset must be whole numbers, 0 or more")
    else Right(all.collect { case (topic, Some(partition), offset) => LogPartition(topic, partition) -> offset.asLong })
  }

  private def offsets(
      starts: Seq[(LogPartition, Long)],
      log: Log,
      invalid: String => SpliceException
  ): StartPosition = {
    val unknown = starts.map(_._1).filterNot(log.contains)
    if (unknown.nonEmpty)
      throw invalid(
        s"leg '${leg.name}' does not read ${ReturnedStart.text(unknown)}; the leg reads ${ReturnedStart.text(log.keys)}"
      )
    val beyond = starts.collectFirst { case (p, offset) if offset > log(p).until => (p, offset, log(p).until) }
    beyond.foreach { case (p, offset, until) =>
      throw invalid(s"offset $offset of $p is after the end of the log, $until")
    }
    val lost = starts.collect {
      case (p, offset) if offset < log(p).from => p -> Ranges(Iterator(offset -> log(p).from))
    }
    HandOverTable.checkGap(Seq(before.name), leg, lost)
    val known = starts.toMap
    Offsets(log.map { case (p, range) => p -> OffsetRanges(math.max(known.getOrElse(p, range.from), range.from)) })
  }
}

private object ReturnedStart {

  private val Shown = 20

  /** Keys of the results that the source of a leg accepts. */
  private def accepted(leg: Leg): String = Seq(
    "'offsets'"   -> leg.source.beginsByOffsets,
    "'timestamp'" -> leg.source.beginsByTime,
    "'position'"  -> leg.source.beginsByPosition
  ).collect { case (key, true) => key } match {
    case Seq(one) => one
    case several  => several.mkString("either ", " or ", "")
  }

  private def text(partitions: Iterable[LogPartition]): String = {
    val rest = partitions.size - Shown
    (partitions.take(Shown).map(_.toString) ++ Option.when(rest > 0)(s"$rest more")).mkString(", ")
  }
}
