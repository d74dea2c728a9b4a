// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.bounds

import splice.kafka.internal.split.KafkaPosition
import splice.source.LogPartition
import splice.source.internal.entries.{NumberedEntries, VersionedEntry}
import splice.source.runtime.SideLog

/** The starts of partitions that were found while the query ran, as offsets. A start is durable before an offset
  * depends on the start.
  *
  * The first start of a partition in a generation applies for the life of the checkpoint, even if the batch that found
  * the partition was never logged. A position loses a partition only with its generation, so every range has one start.
  */
final private[kafka] class StartEntries(log: SideLog) {

  private val entries = new NumberedEntries(log, "new-partitions")(StartEntries.read)

  private var all = entries.all.foldRight(Map.empty[(LogPartition, Int), Long])((entry, later) => later ++ entry)

  /** The durable starts, by partition and generation of its topic. */
  def known: Map[(LogPartition, Int), Long] = all

  /** The starts of `partitions` in the generations of `of`. `decide` is called once per partition and generation in the
    * life of the checkpoint.
    */
  def starts(partitions: Set[LogPartition], of: KafkaPosition)(
      decide: Set[LogPartition] => Map[LogPartition, Long]
  ): Map[LogPartition, Long] =
    if (partitions.isEmpty) Map.empty
    else {
      def key(p: LogPartition) = p -> of.generation(p.topic)
      val unknown              = partitions.filterNot(p => all.contains(key(p)))
      if (unknown.nonEmpty) append(KafkaPosition.of(decide(unknown)).like(of))
      partitions.iterator.flatMap(p => all.get(key(p)).map(p -> _)).toMap
    }

  private def append(starts: KafkaPosition): Unit =
    if (starts.offsets.nonEmpty) all = entries.append(VersionedEntry.write(Nil, Seq(starts.json))) ++ all
}

private object StartEntries {

  private def read(entry: VersionedEntry): Map[(LogPartition, Int), Long] = {
    val position = KafkaPosition.read(entry.line)
    position.offsets.map { case (p, offset) => (p -> position.generation(p.topic)) -> offset }.toMap
  }
}
