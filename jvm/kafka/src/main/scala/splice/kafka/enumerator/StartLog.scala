// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.enumerator

import splice.kafka.options.PartitionJson
import splice.kafka.split.KafkaPosition
import splice.source.{CheckpointErrors, LogPartition, SideLog}

/** Where partitions begin that were found while the query ran: earliest, as a number, written down before an offset relies on it.
  *
  * Each entry holds the position of the batch that found the partitions and their starts. A batch, or a range over several,
  * whose `from` does not know a partition takes the first entry that was written at `from` or later and names it.
  */
final private[splice] class StartLog(log: SideLog) {

  private val Prefix = "starts-"

  private var entries: Vector[StartLog.Entry] = log.keys(Prefix).flatMap(key => log.get(key).map(read(key, _))).toVector

  /** The starts of `found`, which `from` does not know. `decide` is asked once in a checkpoint's life for each partition. */
  def starts(from: KafkaPosition, found: Set[LogPartition])(
      decide: Set[LogPartition] => Map[LogPartition, Long]
  ): Map[LogPartition, Long] = if (found.isEmpty) Map.empty
  else {
    val known   = found.flatMap(p => find(from, p).map(p -> _)).toMap
    val unknown = found -- known.keySet
    if (unknown.isEmpty) known else known ++ append(from, decide(unknown))
  }

  private def find(from: KafkaPosition, partition: LogPartition): Option[Long] =
    entries.iterator.filter(e => from.precedes(e.from)).flatMap(_.starts.get(partition)).nextOption()

  private def append(from: KafkaPosition, starts: Map[LogPartition, Long]): Map[LogPartition, Long] =
    if (starts.isEmpty) starts
    else {
      val key   = f"$Prefix${entries.size}%08d"
      val lines = Seq(from.json, PartitionJson.write(KafkaPosition.of(starts).offsets))
      val entry = read(key, log.getOrCreate(key)(lines))
      entries :+= entry
      entry.starts.toMap
    }

  private def read(key: String, lines: Seq[String]): StartLog.Entry = lines match {
    case Seq(from, starts) => StartLog.Entry(KafkaPosition.read(from), KafkaPosition.read(starts).offsets)
    case _ => throw CheckpointErrors.corrupt(s"side-log entry $key", s"it has ${lines.size} lines instead of 2")
  }
}

private[splice] object StartLog {
  final private case class Entry(from: KafkaPosition, starts: Map[LogPartition, Long])
}
