// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.enumerator

import splice.kafka.split.KafkaPosition
import splice.source.{CheckpointErrors, LogPartition, SideLog}

/** Ranges that are passed over because the log no longer held their beginning, written down before an offset relies on it.
  *
  * Everything below the end of such a range was gone, or was given up, when it was written down. So a range that reaches
  * into it from before begins at its end, in whatever batches it is read again.
  */
final private[splice] class SkipLog(log: SideLog) {

  import SkipLog._

  private val Prefix = "skips-"

  private var count = 0

  private var known: Map[(LogPartition, Int), Vector[Skip]] =
    log.keys(Prefix).flatMap(key => log.get(key).toSeq.flatMap(read(key, _))).foldLeft(
      Map.empty[(LogPartition, Int), Vector[Skip]]
    )(including)

  /** Whether nothing was ever passed over. */
  def isEmpty: Boolean = known.isEmpty

  /** Writes down that reading passes over what lies between two positions. */
  def add(from: KafkaPosition, to: KafkaPosition): Unit = {
    val key = f"$Prefix$count%08d"
    read(key, log.getOrCreate(key)(Seq(from.json, to.json))).foreach(skip => known = including(known, skip))
  }

  /** Where a range really begins that is planned from `from` until `until`; `from` where nothing is passed over. */
  def start(partition: LogPartition, generation: Int, from: Long, until: Long): Long =
    known.get((partition, generation)).fold(from) { skips =>
      skips.filter(skip => skip.from < until && from < skip.to).map(_.to).maxOption.fold(from)(math.max(from, _))
    }

  /** Where a partition goes on that stands at `from`. */
  def goOn(partition: LogPartition, generation: Int, from: Long): Long =
    known.get((partition, generation)).fold(from)(_.foldLeft(from) { (at, skip) =>
      if (skip.from <= at && at < skip.to) skip.to else at
    })

  private def including(
      all: Map[(LogPartition, Int), Vector[Skip]],
      skip: ((LogPartition, Int), Skip)
  ): Map[(LogPartition, Int), Vector[Skip]] =
    all.updated(skip._1, all.getOrElse(skip._1, Vector.empty) :+ skip._2)

  private def read(key: String, lines: Seq[String]): Seq[((LogPartition, Int), Skip)] = lines match {
    case Seq(from, to) =>
      count += 1
      val (begin, end) = (KafkaPosition.read(from), KafkaPosition.read(to))
      begin.offsets.toSeq.flatMap { case (p, offset) =>
        end.get(p).map(until => (p -> begin.generation(p.topic)) -> Skip(offset, until))
      }
    case _ => throw CheckpointErrors.corrupt(s"side-log entry $key", s"it has ${lines.size} lines instead of 2")
  }
}

private[splice] object SkipLog {
  final private case class Skip(from: Long, to: Long)
}
