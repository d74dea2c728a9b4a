// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.split

import scala.util.Try

import splice.kafka.internal.split.KafkaPosition
import splice.source.internal.entries.{Json, NumberedEntries, VersionedEntry}
import splice.source.runtime.SideLog

/** Stores positions that are too long for an offset in side-log entries. Each entry is durable before an offset refers
  * to the entry.
  *
  * An entry without an offset has no effect. A killed run may leave such an entry.
  *
  * @param start
  *   the start of the source, which is kept as long as the checkpoint is used
  * @param longest
  *   maximum number of JSON characters of an offset
  */
final private[dynamic] class PositionEntries(
    log: SideLog,
    start: Option[DynamicOffset] = None,
    longest: Int = PositionEntries.Longest
) {

  import PositionEntries._

  private val entries = new NumberedEntries(log, StoredPosition.Prefix)(PositionFormat.read)

  private var first = start.flatMap(number)

  // Each batch needs its start and its end several times.
  private var recent: Vector[(Int, DynamicPosition)] = Vector.empty

  /** Returns the offset of a position. If the offset refers to an entry, the entry is durable when this returns. */
  def offset(position: DynamicPosition): DynamicOffset =
    if (entries.numbers.isEmpty && position.length <= longest) position
    else {
      // The last entry of a killed run, to which no offset refers yet, often has the same position.
      val number = entries.numbers.lastOption.filter(find(_) == position).getOrElse(append(position))
      StoredPosition(number, position.change)
    }

  /** Returns the offset of the start of the source. */
  def start(position: DynamicPosition): DynamicOffset = {
    val begun = offset(position)
    first = number(begun)
    begun
  }

  /** Returns the position that an offset contains or refers to.
    *
    * @throws splice.source.errors.SpliceException
    *   if the entry is missing or damaged
    */
  def apply(offset: DynamicOffset): DynamicPosition = offset match {
    case whole: DynamicPosition => whole
    case stored: StoredPosition => find(stored.number)
  }

  /** Removes the entries of positions before the oldest offset that Spark keeps. Spark does not keep the offset of each
    * batch if progress is tracked asynchronously, so a number of entries does not determine the oldest offset.
    */
  def purge(oldest: DynamicOffset): Unit = number(oldest).foreach { kept =>
    entries.purge(entries.numbers.rangeUntil(kept).filterNot(first.contains(_)))
  }

  private def number(offset: DynamicOffset): Option[Int] = Option(offset).collect { case StoredPosition(n, _) => n }

  private def find(number: Int): DynamicPosition =
    recent.collectFirst { case (`number`, known) => known }.getOrElse(remember(number, entries(number)))

  private def append(position: DynamicPosition): Int = {
    val number = entries.create(PositionFormat.write(position))
    val _      = remember(number, position)
    number
  }

  private def remember(number: Int, position: DynamicPosition): DynamicPosition = {
    recent = (recent :+ (number -> position)).takeRight(Remembered)
    position
  }
}

private[dynamic] object PositionEntries {

  /** Maximum number of characters of an offset. Spark reads and writes an offset as one line of a file per batch, and
    * shows it in every progress.
    */
  val Longest = 100000

  private val Remembered = 4
}

/** Format of a [[DynamicPosition]]: a head line, then one line per cluster. */
private[splice] object PositionFormat {

  // The JSON is concatenated, because the offsets of a cluster are JSON text already, and a position may have many
  // offsets.
  def write(position: DynamicPosition): Seq[String] = VersionedEntry.write(
    Seq("change" -> Json.number(position.change.toLong)),
    position.clusters.toSeq.map { case (name, part) =>
      Json.compose(Seq("cluster" -> Json.quoted(name), "offsets" -> part.json))
    }
  )

  /** Parses an entry.
    *
    * @throws splice.source.errors.SpliceException
    *   if the lines are damaged
    */
  def read(entry: VersionedEntry): DynamicPosition = {
    val change   = DynamicPosition.change(entry("change")).getOrElse(entry.corrupt("'change' is not a change's number"))
    val clusters = entry.nodes.map { node =>
      Try(node.get("cluster").asText -> KafkaPosition.read(Json.write(node.get("offsets")))).getOrElse(
        entry.corrupt("a line does not have a cluster with offsets")
      )
    }
    DynamicPosition.of(change, clusters)
  }
}
