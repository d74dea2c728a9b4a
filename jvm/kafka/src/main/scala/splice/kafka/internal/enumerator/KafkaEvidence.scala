// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.enumerator

import splice.kafka.internal.bounds.{EndingEntries, Fills, SkippedRanges}
import splice.kafka.internal.split.KafkaPosition
import splice.source.log.OffsetRuns
import splice.source.{Evidence, OffsetSummary}

/** The end state of a bounded Kafka source. The state contains offsets, and no times, since only the records contain
  * times.
  */
private[enumerator] object KafkaEvidence {

  /** @param skips
    *   the offsets that no batch reads
    * @param fills
    *   the holes of the start
    */
  def apply(entry: EndingEntries.Entry, position: KafkaPosition, skips: SkippedRanges, fills: Fills): Evidence = {
    def offsets() = entry.end.offsets.toSeq.map { case (p, wanted) =>
      // A source that began after its end has read no records. The next leg must not start before its position.
      val end        = math.max(wanted, position.get(p).getOrElse(wanted))
      val first      = math.min(entry.start.get(p).getOrElse(end), end)
      val generation = position.generation(p.topic)
      // The previous history may continue after the end of this source. Of these offsets, the next leg reads only the
      // holes.
      val until  = fills.find(p, generation).fold(end)(fill => math.max(end, fill.cut))
      val unread = fills.read(p, generation, end, until)
      skips.of(p, generation).foreach(skip => unread.addRange(skip.from, skip.until))
      // The range includes offsets of the previous history between holes. A later hand-over must not count these
      // offsets again.
      OffsetSummary(p, OffsetRuns.of(unread.holes(first, until).toSeq: _*), first, until)
    }
    Evidence(position, offsets = () => offsets())
  }
}
