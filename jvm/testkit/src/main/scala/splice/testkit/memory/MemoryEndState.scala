// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.testkit.memory

import java.time.Instant

import scala.collection.immutable.SortedMap

import splice.source._

/** What an archive ended with. The time of its last record stands for a file's modification time. */
final private[memory] class MemoryEndState(override val position: Position, log: String, ends: SortedMap[Int, Long])
    extends EndState {

  private def records: Seq[MemoryRecord] = {
    val all = MemoryLog(log)
    ends.toSeq.flatMap { case (p, end) => all.read(p, all.earliest(p), end) }
  }

  override def eventTimes(column: String): Option[TimeRange] = {
    MemoryLog(log).ask("eventTimes")
    range
  }

  override def modificationTimes: Option[TimeRange] = {
    MemoryLog(log).ask("modificationTimes")
    range
  }

  override def offsets(columns: OffsetColumns): Seq[OffsetSummary] = {
    MemoryLog(log).ask("offsets")
    def offset(record: MemoryRecord) = if (columns.offset == "id") record.id else record.originOffset
    records.groupBy(_.origin).toSeq.sortBy(_._1).map { case (partition, held) =>
      val offsets = held.map(offset).distinct.sorted
      val holes   = offsets.zip(offsets.drop(1)).collect { case (a, b) if b > a + 1 => (a + 1, b) }
      val several = held.groupBy(offset).collect { case (o, all) if all.size > 1 => (o, o + 1) }
      OffsetSummary(
        partition,
        offsets.head,
        offsets.last,
        offsets.size.toLong,
        holes,
        held.size.toLong,
        several.toSeq.sorted
      )
    }
  }

  private def range: Option[TimeRange] = records.map(_.millis) match {
    case Seq()  => None
    case millis => Some(TimeRange(Instant.ofEpochMilli(millis.min), Instant.ofEpochMilli(millis.max)))
  }
}
