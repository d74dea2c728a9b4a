// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.testkit.internal.memory

import scala.collection.immutable.SortedMap

import splice.source.Position
import splice.source.errors.CheckpointErrors
import splice.source.internal.entries.Json

/** Position with the next offset of each partition. */
final private[splice] case class MemoryPosition(log: String, next: SortedMap[Int, Long]) extends Position {

  override def json: String = {
    val offsets = next.toSeq.map { case (p, offset) => Json.array(Seq(Json.number(p.toLong), Json.number(offset))) }
    Json.write(Json.obj("log" -> Json.text(log), "next" -> Json.array(offsets)))
  }

  override def precedes(later: Position): Boolean = later match {
    case that: MemoryPosition => next.forall { case (p, offset) => that.next.get(p).exists(offset <= _) }
    case _                    => false
  }
}

private[splice] object MemoryPosition {

  def parse(log: String, text: String): MemoryPosition = {
    val read = for {
      node <- Json.read(text)
      name <- Json.field(node, "log") if name.asText == log
      next <- Json.field(node, "next")
    } yield MemoryPosition(
      log,
      SortedMap.from(Json.items(next).map(Json.items).collect { case Seq(p, offset) => p.asInt -> offset.asLong })
    )
    read.getOrElse(throw CheckpointErrors.foreign(s"The offset $text", s"an offset of the log $log"))
  }
}
