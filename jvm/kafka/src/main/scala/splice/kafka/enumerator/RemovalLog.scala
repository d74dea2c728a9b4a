// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.enumerator

import java.time.Instant

import splice.kafka.split.KafkaPosition
import splice.source.{CheckpointErrors, SideLog}

/** Topics that are gone although they were read: since when, and how far they were read. */
final private[splice] class RemovalLog(log: SideLog) {

  import RemovalLog._

  private val Prefix = "removed-"

  private var count = 0

  private var gone: Map[String, Removal] =
    log.keys(Prefix).flatMap(key => log.get(key).map(read(key, _))).foldLeft(Map.empty[String, Removal])(including)

  /** The topics that are gone. */
  def all: Iterable[Removal] = gone.values

  /** A topic's removal, while it is gone. */
  def of(topic: String): Option[Removal] = gone.get(topic)

  /** Writes down that a topic is gone, if that is not known yet. */
  def remove(topic: String, at: KafkaPosition, now: Instant): Unit =
    if (!gone.contains(topic)) append(Removal(topic, at, Some(now)))

  /** Writes down that a topic is back. */
  def restore(topic: String): Unit = gone.get(topic).foreach(removal => append(removal.copy(since = None)))

  private def append(removal: Removal): Unit = {
    val key = f"$Prefix$count%08d"
    gone = including(gone, read(key, log.getOrCreate(key)(removal.lines)))
  }

  private def including(all: Map[String, Removal], one: Removal): Map[String, Removal] =
    if (one.since.isEmpty) all - one.topic else all.updated(one.topic, one)

  private def read(key: String, lines: Seq[String]): Removal = {
    count += 1
    lines match {
      case Seq(topic, since, at) =>
        Removal(topic, KafkaPosition.read(at), since.toLongOption.map(Instant.ofEpochMilli))
      case _ => throw CheckpointErrors.corrupt(s"side-log entry $key", s"it has ${lines.size} lines instead of 3")
    }
  }
}

private[splice] object RemovalLog {

  /** A topic that is gone.
    *
    * @param at
    *   how far it was read
    * @param since
    *   None when it is back
    */
  final case class Removal(topic: String, at: KafkaPosition, since: Option[Instant]) {
    def lines: Seq[String] = Seq(topic, since.fold("")(_.toEpochMilli.toString), at.json)
  }
}
