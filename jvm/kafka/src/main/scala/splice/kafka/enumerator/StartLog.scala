// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.enumerator

import scala.collection.immutable.SortedMap

import splice.kafka.split.KafkaPosition
import splice.source.{CheckpointErrors, LogPartition, SideLog}

/** Where partitions begin that were found while the query ran: earliest, as a number, written down before an offset relies on it.
  *
  * The first start that was written down for a partition holds for ever, also if the batch that found it came to nothing and
  * others went before the next: positions never lose a partition, so there is one start to know, whatever range is asked for.
  */
final private[splice] class StartLog(log: SideLog) {

  private val Prefix = "starts-"

  private var entries: Vector[SortedMap[LogPartition, Long]] =
    log.keys(Prefix).flatMap(key => log.get(key).map(read(key, _))).toVector

  private var known: Map[LogPartition, Long] = entries.reverseIterator.flatten.toMap

  /** The starts of `found`. `decide` is asked once in a checkpoint's life for each partition. */
  def starts(found: Set[LogPartition])(decide: Set[LogPartition] => Map[LogPartition, Long])
      : Map[LogPartition, Long] = {
    val unknown = found -- known.keySet
    if (unknown.nonEmpty) append(decide(unknown))
    known.filter { case (p, _) => found(p) }
  }

  private def append(starts: Map[LogPartition, Long]): Unit = if (starts.nonEmpty) {
    val key   = f"$Prefix${entries.size}%08d"
    val entry = read(key, log.getOrCreate(key)(Seq(KafkaPosition.of(starts).json)))
    entries :+= entry
    known = entry ++ known
  }

  private def read(key: String, lines: Seq[String]): SortedMap[LogPartition, Long] = lines match {
    case Seq(starts) => KafkaPosition.read(starts).offsets
    case _ => throw CheckpointErrors.corrupt(s"side-log entry $key", s"it has ${lines.size} lines instead of 1")
  }
}
