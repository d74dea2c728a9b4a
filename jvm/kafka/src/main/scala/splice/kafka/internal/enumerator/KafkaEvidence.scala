// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.enumerator

import splice.kafka.internal.bounds.{EndingEntries, SkippedRanges}
import splice.kafka.internal.errors.KafkaErrors
import splice.kafka.internal.split.KafkaPosition
import splice.kafka.internal.value.KafkaSchema
import splice.source.log.OffsetRuns
import splice.source.{Evidence, OffsetColumns, OffsetSummary, TimeRange}

/** The end state of a bounded Kafka source. The state contains offsets, and no times, since only the records contain
  * times.
  */
final private[splice] class KafkaEvidence(
    entry: EndingEntries.Entry,
    override val position: KafkaPosition,
    skips: SkippedRanges
) extends Evidence {

  override def eventTimes(column: String): Option[TimeRange] =
    throw KafkaErrors.cannotRespond(
      s"the least and greatest '$column' of the records",
      "the records would have to be read a second time"
    )

  override def modificationTimes: Option[TimeRange] =
    throw KafkaErrors.cannotRespond("modification times of files", "the source has no files")

  override def offsets(columns: OffsetColumns): Seq[OffsetSummary] = {
    val wrong = Seq(
      columns.topic     -> KafkaSchema.Topic,
      columns.partition -> KafkaSchema.Partition,
      columns.offset    -> KafkaSchema.Offset
    ).collectFirst { case (given, expected) if given != expected => given }
    wrong.foreach(c =>
      throw KafkaErrors.cannotRespond(s"offsets by a column '$c'", "the columns are topic, partition and offset")
    )
    entry.end.offsets.toSeq.map { case (p, wanted) =>
      // A source that began after its end has read no records. The next leg must not start before its position.
      val end     = math.max(wanted, position.get(p).getOrElse(wanted))
      val first   = math.min(entry.start.get(p).getOrElse(end), end)
      val skipped = OffsetRuns.of(skips.of(p, position.generation(p.topic)).map(skip => skip.from -> skip.until): _*)
      // The range includes offsets of the previous history between holes. A later hand-over must not count these
      // offsets again.
      OffsetSummary(p, OffsetRuns.of(skipped.holes(first, end).toSeq: _*), first, end)
    }
  }
}
