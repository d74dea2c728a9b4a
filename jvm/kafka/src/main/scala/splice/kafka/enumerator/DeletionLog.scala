// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.enumerator

import java.time.Instant

import scala.collection.immutable.SortedMap
import scala.util.Try

import splice.kafka.split.KafkaPosition
import splice.source.{Json, NumberedEntries, SideLog, VersionedEntry}

/** Topics that were read and then deleted at the brokers: since when, and how far they were read. The last entry of a topic holds, and
  * replaces those before it.
  */
final private[splice] class DeletionLog(log: SideLog) {

  import DeletionLog._

  private val entries = new NumberedEntries(log, "deleted")(read)

  private var stored: SortedMap[Int, Deletion] =
    SortedMap.from(entries.numbers.iterator.map(number => number -> entries(number)))

  private var deleted = stored.valuesIterator.foldLeft(Map.empty[String, Deletion])(including)

  /** The topics that do not exist now. */
  def all: Iterable[Deletion] = deleted.values

  /** A topic's deletion, until it exists again. */
  def of(topic: String): Option[Deletion] = deleted.get(topic)

  /** Stores that a topic was deleted, unless that is stored already. */
  def delete(topic: String, at: KafkaPosition, now: Instant): Unit =
    if (!deleted.contains(topic)) append(Deletion(topic, at, Some(now)))

  /** Stores that a topic exists again. */
  def restore(topic: String): Unit = deleted.get(topic).foreach(deletion => append(deletion.copy(since = None)))

  private def append(deletion: Deletion): Unit = {
    // The entry of another driver serves as well if the topic and its state are the same.
    val _ = entries.appendUntil(deletion.lines) { (number, durable) =>
      deleted = including(deleted, durable)
      stored += number -> durable
      purge(number)
    }(durable => durable.topic == deletion.topic && durable.since.isEmpty == deletion.since.isEmpty)
  }

  /** Removes the entries before the last one that say nothing more: the topic has a later one, or exists again. */
  private def purge(last: Int): Unit = {
    val holding  = stored.map { case (number, one) => one.topic -> number }
    val replaced = stored.collect { case (n, one) if n < last && (one.since.isEmpty || holding(one.topic) > n) => n }
    entries.purge(replaced)
    stored --= replaced
  }
}

private[splice] object DeletionLog {

  /** A topic that was deleted.
    *
    * @param at
    *   how far it was read
    * @param since
    *   None when it exists again
    */
  final case class Deletion(topic: String, at: KafkaPosition, since: Option[Instant]) {
    def lines: Seq[String] = {
      val time = since.map(instant => "since" -> Json.text(instant.toString))
      VersionedEntry.write(Seq("topic" -> Json.text(topic)) ++ time, Seq(at.json))
    }
  }

  private def including(all: Map[String, Deletion], one: Deletion): Map[String, Deletion] =
    if (one.since.isEmpty) all - one.topic else all.updated(one.topic, one)

  private def read(entry: VersionedEntry): Deletion = {
    val since = entry.find("since").map { time =>
      Try(Instant.parse(time.asText)).getOrElse(entry.corrupt(s"'since' is $time"))
    }
    Deletion(entry.text("topic"), KafkaPosition.read(entry.line), since)
  }
}
