// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.enumerator

import splice.kafka.split.KafkaPosition
import splice.kafka.{KafkaErrors, KafkaSchema}
import splice.source._

/** What a bounded Kafka source ended with. It knows offsets; times only the records know. */
final private[splice] class KafkaEndState(
    entry: EndingLog.Entry,
    override val position: KafkaPosition,
    skips: SkippedRanges
) extends Evidence {

  override def eventTimes(column: String): Option[TimeRange] =
    throw KafkaErrors.cannotAnswer(
      s"the least and greatest '$column' of what it read",
      "that would need a second reading"
    )

  override def modificationTimes: Option[TimeRange] =
    throw KafkaErrors.cannotAnswer("when its files were modified", "it has no files")

  override def offsets(columns: OffsetColumns): Seq[OffsetSummary] = {
    val wrong = Seq(
      columns.topic     -> KafkaSchema.Topic,
      columns.partition -> KafkaSchema.Partition,
      columns.offset    -> KafkaSchema.Offset
    ).collectFirst { case (given, own) if given != own => given }
    wrong.foreach(c =>
      throw KafkaErrors.cannotAnswer(s"offsets by a column '$c'", "its own columns are topic, partition and offset")
    )
    entry.end.offsets.toSeq.map { case (p, wanted) =>
      // A source that began after its end has read nothing, and what comes next must not go back.
      val end     = math.max(wanted, position.get(p).getOrElse(wanted))
      val first   = math.min(entry.start.get(p).getOrElse(end), end)
      val skipped = OffsetRuns.of(skips.of(p, position.generation(p.topic)).map(skip => skip.from -> skip.until): _*)
      // After holes, the offsets that it passed over are those of the history before it, which a later hand-over does not count again.
      OffsetSummary(p, OffsetRuns.of(skipped.holes(first, end).toSeq: _*), first, end)
    }
  }
}
