// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.identity

import java.time.Instant

import scala.collection.immutable.SortedMap
import scala.util.Try

import splice.kafka.internal.split.KafkaPosition
import splice.source.internal.entries.{Json, NumberedEntries, VersionedEntry}
import splice.source.runtime.SideLog

/** Entries of topics that were read and then deleted at the brokers, with the time and the position. The last entry of
  * a topic replaces its earlier entries.
  */
final private[splice] class DeletionEntries(log: SideLog) {

  import DeletionEntries._

  private val entries = new NumberedEntries(log, "deleted")(read)

  private var stored: SortedMap[Int, Deletion] =
    SortedMap.from(entries.numbers.iterator.map(number => number -> entries(number)))

  private var deleted = stored.valuesIterator.foldLeft(Map.empty[String, Deletion])(including)

  /** The topics that do not exist now. */
  def all: Iterable[Deletion] = deleted.values

  /** A topic's deletion, until it exists again. */
  def of(topic: String): Option[Deletion] = deleted.get(topic)

  /** Stores the deletion of a topic, unless it is stored already. */
  def delete(topic: String, at: KafkaPosition, now: Instant): Unit =
    if (!deleted.contains(topic)) append(Deletion(topic, at, Some(now)))

  /** Stores that a topic exists again. */
  def restore(topic: String): Unit = deleted.get(topic).foreach(deletion => append(deletion.copy(since = None)))

  private def append(deletion: Deletion): Unit = {
    // If another driver has stored the same topic and state, its entry is used.
    val _ = entries.appendUntil(deletion.lines) { (number, durable) =>
      deleted = including(deleted, durable)
      stored += number -> durable
      purge(number)
    }(durable => durable.topic == deletion.topic && durable.since.isEmpty == deletion.since.isEmpty)
  }

  /** Removes entries that have no effect, except the entry `last`. The topic of such an entry has a later entry, or
    * exists again.
    */
  private def purge(last: Int): Unit = {
    val holding  = stored.map { case (number, deletion) => deletion.topic -> number }
    val replaced = stored.collect {
      case (n, deletion) if n < last && (deletion.since.isEmpty || holding(deletion.topic) > n) => n
    }
    entries.purge(replaced)
    stored --= replaced
  }
}

private[splice] object DeletionEntries {

  /** A deleted topic.
    *
    * @param at
    *   the position in the topic at the time of its deletion
    * @param since
    *   the time when the deletion was detected; None if the topic exists again
    */
  final case class Deletion(topic: String, at: KafkaPosition, since: Option[Instant]) {
    def lines: Seq[String] = {
      val time = since.map(instant => "since" -> Json.text(instant.toString))
      VersionedEntry.write(Seq("topic" -> Json.text(topic)) ++ time, Seq(at.json))
    }
  }

  private def including(all: Map[String, Deletion], deletion: Deletion): Map[String, Deletion] =
    if (deletion.since.isEmpty) all - deletion.topic else all.updated(deletion.topic, deletion)

  private def read(entry: VersionedEntry): Deletion = {
    val since = entry.find("since").map { time =>
      Try(Instant.parse(time.asText)).getOrElse(entry.corrupt(s"'since' is $time"))
    }
    Deletion(entry.text("topic"), KafkaPosition.read(entry.line), since)
  }
}
