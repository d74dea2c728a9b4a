// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source.log

import scala.collection.mutable

import com.fasterxml.jackson.databind.JsonNode
import org.roaringbitmap.RoaringBitmap

import splice.source.internal.entries.Json

/** Extents of a source for which the driver has received reports. Mutable. Used by one thread.
  *
  * If several batches read a block row by row, the block is covered when the reports contain all its rows.
  */
final class Coverage {

  import Coverage._

  // Units that are covered completely. A source may have a million units, and only few of them are covered in part.
  private val whole = new RoaringBitmap
  private val parts = mutable.Map.empty[Int, Ranges]
  private val spans = mutable.Map.empty[Int, Map[(Long, Long), Ranges]]

  private[splice] def isEmpty: Boolean = whole.isEmpty && parts.isEmpty && spans.isEmpty

  /** True if at least one row of the extent is covered. */
  def overlaps(extent: Extent): Boolean = {
    val Extent(unit, from, until, rows)          = extent
    def read(block: (Long, Long), known: Ranges) = block match {
      case (`from`, `until`) => rows.forall { case (first, last) => overlap(known, first, last) }
      case (begin, end)      => begin < until && from < end
    }
    overlap(covered(unit), from, until) || spansOf(unit).exists { case (block, known) => read(block, known) }
  }

  /** True if the block of an added extent is covered completely. */
  private[splice] def completes(added: Extent): Boolean = !spansOf(added.unit).contains(added.from -> added.until)

  /** Adds an extent to the covered extents. The extent must not overlap a covered extent. */
  def add(extent: Extent): Unit = {
    val Extent(unit, from, until, rows) = extent
    rows match {
      case None                => cover(unit, join(covered(unit), from, until))
      case Some((first, last)) =>
        val block = (from, until)
        val read  = join(spansOf(unit).getOrElse(block, Nil), first, last)
        if (read != All) spans(unit) = spansOf(unit).updated(block, read)
        else {
          spans(unit) = spansOf(unit) - block
          if (spans(unit).isEmpty) spans -= unit
          cover(unit, join(covered(unit), from, until))
        }
    }
  }

  /** Returns the extents of a unit between `from` and `until` that are not covered, sorted by their start. The result
    * also contains the missing rows of each block of the unit that is covered in part.
    */
  def missing(unit: Int, from: Long, until: Long): Seq[Extent] = {
    val begun = spansOf(unit).toSeq
    val known = begun.foldLeft(covered(unit)) { case (all, ((begin, end), _)) => join(all, begin, end) }
    val rest  = begun.flatMap { case ((begin, end), read) =>
      gaps(read, 0L, Long.MaxValue).map(rows => Extent(unit, begin, end, Some(rows)))
    }
    (gaps(known, from, until).map { case (begin, end) => Extent(unit, begin, end) } ++ rest).sortBy(_.from)
  }

  private[splice] def json: JsonNode = {
    val blocks = for {
      (unit, known)        <- spans.toSeq.sortBy(_._1)
      ((begin, end), read) <- known.toSeq.sortBy(_._1)
    } yield numbers(Seq(unit.toLong, begin, end) ++ flat(read))
    Json.obj(
      "whole" -> Json.array(runs.map { case (from, until) => numbers(Seq(from, until)) }),
      "parts" -> Json.array(parts.toSeq.sortBy(_._1).map { case (unit, known) => numbers(unit.toLong +: flat(known)) }),
      "rows"  -> Json.array(blocks)
    )
  }

  private def covered(unit: Int): Ranges = if (whole.contains(unit)) All else parts.getOrElse(unit, Nil)

  private def cover(unit: Int, known: Ranges): Unit =
    if (known != All) parts(unit) = known
    else {
      parts -= unit
      whole.add(unit)
    }

  private def spansOf(unit: Int): Map[(Long, Long), Ranges] = spans.getOrElse(unit, Map.empty)

  /** Ranges of the numbers of units that are covered completely. */
  private def runs: Ranges = Iterator
    .unfold(0L) { at =>
      Option(whole.nextValue(at.toInt)).filter(_ >= 0).map { from =>
        val until = whole.nextAbsentValue(from.toInt)
        (from -> until, until)
      }
    }
    .toSeq
}

private[splice] object Coverage {

  /** Pairs of start (included) and end (excluded), sorted, with a gap between any two ranges. */
  private type Ranges = Seq[(Long, Long)]

  private val All: Ranges = Seq(0L -> Long.MaxValue)

  /** Reads a coverage from its JSON. Returns None if the node is not the JSON of a coverage. */
  def read(node: JsonNode): Option[Coverage] = {
    val created              = new Coverage
    def lists(field: String) = Json.field(node, field).toSeq.flatMap(Json.items).map(Json.items(_).map(_.asLong))
    def pairs(flat: Seq[Long])(add: ((Long, Long)) => Unit): Boolean = flat.size % 2 == 0 && {
      flat.grouped(2).foreach { pair => add(pair.head -> pair(1)) }
      true
    }
    val valid = lists("whole").map(pairs(_) { case (from, until) => created.whole.add(from, until) }) ++
      lists("parts").map {
        case Seq(unit, flat @ _*) => pairs(flat) { case (from, until) => created.add(Extent(unit.toInt, from, until)) }
        case _                    => false
      } ++
      lists("rows").map {
        case Seq(unit, begin, end, flat @ _*) =>
          pairs(flat)(rows => created.add(Extent(unit.toInt, begin, end, Some(rows))))
        case _ => false
      }
    Option.when(node.isObject && valid.forall(identity))(created)
  }

  private def flat(ranges: Ranges): Seq[Long] = ranges.flatMap { case (from, until) => Seq(from, until) }

  private def numbers(all: Seq[Long]): JsonNode = Json.array(all.map(Json.number))

  private def overlap(ranges: Ranges, from: Long, until: Long): Boolean =
    ranges.exists { case (begin, end) => begin < until && from < end }

  private def join(ranges: Ranges, from: Long, until: Long): Ranges = {
    val (touching, apart) = ranges.partition { case (begin, end) => begin <= until && from <= end }
    val joined            = (touching.map(_._1) :+ from).min -> (touching.map(_._2) :+ until).max
    (joined +: apart).sorted
  }

  private def gaps(ranges: Ranges, from: Long, until: Long): Ranges = {
    val starts = from +: ranges.map(_._2)
    val ends   = ranges.map(_._1) :+ until
    starts.zip(ends).map { case (a, b) => math.max(a, from) -> math.min(b, until) }.filter { case (a, b) => a < b }
  }
}
