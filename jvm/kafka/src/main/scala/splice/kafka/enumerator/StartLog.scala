// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.enumerator

import splice.kafka.split.KafkaPosition
import splice.source.{CheckpointErrors, LogPartition, SideLog}

/** Where partitions begin that were found while the query ran, as a number, written down before an offset relies on it.
  *
  * The first start that was written down for a partition of a topic's generation holds for ever, also if the batch that found
  * it came to nothing and others went before the next: positions lose a partition only with its generation, so there is one
  * start to know, whatever range is asked for.
  */
final private[splice] class StartLog(log: SideLog) {

  private val Prefix = "starts-"

  private var count = 0

  private var known: Map[(LogPartition, Int), Long] =
    log.keys(Prefix).flatMap(key => log.get(key).map(read(key, _))).foldRight(Map.empty[(LogPartition, Int), Long])(
      (entry, all) => all ++ entry
    )

  /** The starts of `found` in the generations of `of`. `decide` is asked once in a checkpoint's life for each partition. */
  def starts(found: Set[LogPartition], of: KafkaPosition)(
      decide: Set[LogPartition] => Map[LogPartition, Long]
  ): Map[LogPartition, Long] =
    if (found.isEmpty) Map.empty
    else {
      def key(p: LogPartition) = p -> of.generation(p.topic)
      val unknown              = found.filterNot(p => known.contains(key(p)))
      if (unknown.nonEmpty) append(KafkaPosition.of(decide(unknown)).like(of))
      found.iterator.flatMap(p => known.get(key(p)).map(p -> _)).toMap
    }

  private def append(starts: KafkaPosition): Unit = if (starts.offsets.nonEmpty) {
    val key   = f"$Prefix$count%08d"
    val entry = read(key, log.getOrCreate(key)(Seq(starts.json)))
    known = entry ++ known
  }

  private def read(key: String, lines: Seq[String]): Map[(LogPartition, Int), Long] = lines match {
    case Seq(starts) =>
      count += 1
      val position = KafkaPosition.read(starts)
      position.offsets.map { case (p, offset) => (p -> position.generation(p.topic)) -> offset }.toMap
    case _ => throw CheckpointErrors.corrupt(s"side-log entry $key", s"it has ${lines.size} lines instead of 1")
  }
}
