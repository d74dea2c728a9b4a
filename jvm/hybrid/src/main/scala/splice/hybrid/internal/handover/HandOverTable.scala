// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.handover

import scala.collection.immutable.SortedMap

import org.slf4j.LoggerFactory

import splice.hybrid.internal.chain.{Fill, Leg, OnHoles}
import splice.hybrid.internal.errors.{HandOverErrors, Ranges}
import splice.hybrid.internal.history.PartitionHistory
import splice.source.errors.SpliceException
import splice.source.internal.entries.Json
import splice.source.log.{LogPartitions, LogRange}
import splice.source.options.FailOrWarn
import splice.source.{LogPartition, OffsetRanges}

/** Decision of an exact hand-over: present and missing offsets of a history per log partition, compared with the log.
  *
  * Each offset before the end of the history is in the history, is supplied by the log (`fill`), or is unavailable.
  * An unavailable offset is no longer in the log, and a record may never have existed there. The log supplies all
  * offsets from the end of the history on.
  */
final private[splice] case class HandOverTable(rows: Seq[HandOverTable.Row]) {

  /** Ranges to read from the log. */
  def starts: SortedMap[LogPartition, OffsetRanges] = {
    val wanted = rows.flatMap(row => row.wanted.map(row.partition -> _))
    val known  = SortedMap.from(rows.map(row => row.partition -> OffsetRanges(row.start)))
    known ++ new Fill()(SortedMap.from(wanted))
  }

  /** Lines of JSON, one per partition. */
  def lines: Seq[String] = rows.map(_.json)
}

private[splice] object HandOverTable {

  private val logger = LoggerFactory.getLogger(classOf[HandOverTable])

  /** Row of one partition.
    *
    * @param history
    *   None if no previous leg has rows of the partition
    */
  final case class Row(
      partition: LogPartition,
      history: Option[PartitionHistory],
      log: LogRange,
      onHoles: OnHoles
  ) {

    /** End offset of the history. */
    def cut: Long = history.fold(0L)(_.until)

    /** Offset from which the log is read completely. */
    def start: Long = math.max(cut, log.from)

    /** Offsets that are in the log and missing from the history. */
    def holes: Iterator[(Long, Long)] =
      history.fold(Iterator.empty[(Long, Long)])(h => h.holes(math.max(h.from, log.from), h.until))

    /** Offsets that are missing from both the history and the log. */
    def unavailable: Iterator[(Long, Long)] = {
      val before = history.fold(Iterator.empty[(Long, Long)]) { h =>
        if (onHoles == OnHoles.Ignore) Iterator.empty else h.holes(h.from, math.min(log.from, h.until))
      }
      before ++ (if (cut < log.from) Iterator.single(cut -> log.from) else Iterator.empty)
    }

    /** Offsets that the log supplies before [[start]]. */
    def wanted: Option[Fill.Wanted] = history.filter(_ => onHoles == OnHoles.Fill && holes.hasNext).map { h =>
      Fill.Wanted(start, () => holes, h.offsets)
    }

    def json: String = {
      def range(from: Long, until: Long) = Json.array(Seq(Json.number(from), Json.number(until)))
      val past                           = history.toSeq.flatMap { h =>
        val legs = h.parts.map { case (leg, held) =>
          val (first, end) = (held.from, held.until)
          Json.obj(
            "leg"     -> Json.text(leg.name),
            "range"   -> range(first, end),
            "offsets" -> Json.number(held.offsets.count),
            "rows"    -> Json.number(held.offsets.rows)
          )
        }
        Seq(
          "history"  -> Json.array(legs),
          "repeated" -> Ranges(h.offsets.repeated).json,
          "missing"  -> Ranges(h.holes(h.from, h.until)).json
        )
      }
      val fill = Option.when(wanted.nonEmpty)("fill" -> Ranges(holes).json)
      Json.write(Json.obj(
        Seq("topic" -> Json.text(partition.topic), "partition" -> Json.number(partition.partition.toLong)) ++ past ++
          fill ++ Seq(
            "unavailable" -> Ranges(unavailable).json,
            "log"         -> range(log.from, log.until),
            "start"       -> Json.number(start)
          ): _*
      ))
    }
  }

  /** Compares a history with the log and applies the policies of the leg.
    *
    * @param before
    *   legs of the history
    * @throws SpliceException
    *   if a record would be lost or read twice, and the policy of the leg is to fail
    */
  def apply(
      before: Seq[Leg],
      leg: Leg,
      history: Seq[PartitionHistory],
      log: LogPartitions
  ): HandOverTable = {
    val names   = before.map(_.name)
    val ranges  = log.logRanges(SortedMap.from(history.map(h => h.partition -> h.until)))
    val foreign = history.map(_.partition).filterNot(ranges.contains)
    if (foreign.nonEmpty) throw HandOverErrors.notInLog(before, leg.name, foreign)
    val ahead = history.filter(h => h.until > ranges(h.partition).until)
    if (ahead.nonEmpty)
      throw HandOverErrors.ahead(
        before,
        leg.name,
        ahead.map(h => (h.partition, h.until, ranges(h.partition).until))
      )
    val known = history.map(h => h.partition -> h).toMap
    val rows  = ranges.toSeq.map { case (p, range) => Row(p, known.get(p), range, leg.onHoles) }
    PartitionHistory.checkDuplicates(names, leg, history).foreach(logger.warn)
    val holed = rows.filter(_.holes.hasNext)
    if (holed.nonEmpty && leg.onHoles == OnHoles.Fail) throw HandOverErrors.holes(names, leg.name, holed.map(lacks))
    val lost = rows.map(row => row.partition -> Ranges(row.unavailable)).filterNot(_._2.isEmpty)
    checkGap(names, leg, lost)
    HandOverTable(rows)
  }

  /** Applies the policy `onGap` to offsets that are missing from both the history and the log. */
  private[hybrid] def checkGap(before: Seq[String], leg: Leg, lost: Seq[(LogPartition, Ranges)]): Unit =
    if (lost.nonEmpty) applyOnGap(leg, HandOverErrors.gap(before, leg.name, lost))

  /** Throws the error of a gap, or logs it, as the policy `onGap` of the leg that starts requires. */
  private[hybrid] def applyOnGap(leg: Leg, gap: SpliceException): Unit =
    if (leg.onGap == FailOrWarn.Fail) throw gap else logger.warn(gap.text)

  private def lacks(row: Row): String = {
    val missing = Ranges(row.holes)
    s"${row.partition} lacks ${missing.offsets} ($missing)"
  }
}
