// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.split

import scala.util.Try

import splice.kafka.internal.split.KafkaPosition
import splice.source.internal.entries.{Json, NumberedEntries, VersionedEntry}
import splice.source.runtime.SideLog

/** Keeps positions that are too long for an offset in entries of their own, which are durable before an offset names them.
  *
  * No decision is made by an entry: one that a killed run left behind and that no offset names is void.
  *
  * @param batchesToRetain
  *   for how many committed batches Spark keeps offsets
  * @param start
  *   where the source began, which is kept as long as the source is read
  * @param longest
  *   how many characters of JSON an offset may have
  */
final private[dynamic] class PositionEntries(
    log: SideLog,
    batchesToRetain: Int,
    start: Option[DynamicOffset] = None,
    longest: Int = PositionEntries.Longest
) {

  import PositionEntries._

  private val entries = new NumberedEntries(log, StoredPosition.Prefix)(PositionFormat.read)

  private var first = start.flatMap(number)

  // A batch is asked about by its begin and its end, several times.
  private var recent: Vector[(Int, DynamicPosition)] = Vector.empty

  /** What an offset says of a position. The position is durable when this returns, if the offset only names it. */
  def offset(position: DynamicPosition): DynamicOffset =
    if (entries.numbers.isEmpty && position.length <= longest) position
    else {
      // What a killed run wrote and no offset names yet is often the same.
      val number = entries.numbers.lastOption.filter(find(_) == position).getOrElse(append(position))
      StoredPosition(number, position.change)
    }

  /** The same for the position at which the source begins. */
  def start(position: DynamicPosition): DynamicOffset = {
    val begun = offset(position)
    first = number(begun)
    begun
  }

  /** The position that an offset says, or names.
    *
    * @throws splice.source.errors.SpliceException
    *   when the entry is missing or damaged
    */
  def apply(offset: DynamicOffset): DynamicPosition = offset match {
    case whole: DynamicPosition => whole
    case stored: StoredPosition => find(stored.number)
  }

  /** Forgets the positions that only offsets name which Spark no longer keeps. */
  def purge(committed: DynamicOffset): Unit = committed match {
    case StoredPosition(number, _) =>
      // A batch names one entry at most, and a run that is killed leaves one at most that none names.
      entries.purge(entries.numbers.rangeTo(number).dropRight(batchesToRetain * 2).filterNot(first.contains(_)))
    case _ => ()
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

  /** An offset is one line of a file that Spark reads and writes for every batch, and shows with every progress. */
  val Longest = 100000

  private val Remembered = 4
}

/** A [[DynamicPosition]] as lines: a head, then one for each cluster. */
private[splice] object PositionFormat {

  // By hand, since a cluster's offsets are JSON already and there may be very many.
  def write(position: DynamicPosition): Seq[String] = VersionedEntry.write(
    Seq("change" -> Json.number(position.change.toLong)),
    position.clusters.toSeq.map { case (name, own) =>
      s"""{"cluster":${Json.write(Json.text(name))},"offsets":${own.json}}"""
    }
  )

  /** @throws splice.source.errors.SpliceException when the lines are damaged */
  def read(entry: VersionedEntry): DynamicPosition = {
    val change   = DynamicPosition.change(entry("change")).getOrElse(entry.corrupt("'change' is not a change's number"))
    val clusters = entry.nodes.map { node =>
      Try(node.get("cluster").asText -> KafkaPosition.read(Json.write(node.get("offsets")))).getOrElse(
        entry.corrupt("a line does not have a cluster and its offsets")
      )
    }
    DynamicPosition.of(change, clusters)
  }
}
