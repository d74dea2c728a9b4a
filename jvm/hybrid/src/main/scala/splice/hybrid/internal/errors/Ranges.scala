// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.errors

import com.fasterxml.jackson.databind.JsonNode

import splice.source.internal.entries.Json

/** Readable summary of offset ranges: their number and the first ranges.
  *
  * @param offsets
  *   number of offsets in all ranges
  * @param first
  *   first ranges, from (included) to (excluded)
  */
final private[splice] case class Ranges(count: Long, offsets: Long, first: Vector[(Long, Long)]) {

  def isEmpty: Boolean = count == 0

  def json: JsonNode = Json.obj(
    "count"   -> Json.number(count),
    "first"   -> Json.array(first.map { case (from, until) => Json.array(Seq(Json.number(from), Json.number(until))) }),
    "offsets" -> Json.number(offsets)
  )

  override def toString: String = {
    val shown = first.map { case (from, until) => if (until == from + 1) s"$from" else s"$from to ${until - 1}" }
    (shown ++ Option.when(count > first.size)(s"and ${count - first.size} more ranges")).mkString(", ")
  }
}

private[splice] object Ranges {

  private val Shown = 5

  def apply(all: Iterator[(Long, Long)]): Ranges = all.foldLeft(Ranges(0, 0, Vector.empty)) {
    case (Ranges(count, offsets, first), range @ (from, until)) =>
      Ranges(count + 1, offsets + until - from, if (count < Shown) first :+ range else first)
  }
}
