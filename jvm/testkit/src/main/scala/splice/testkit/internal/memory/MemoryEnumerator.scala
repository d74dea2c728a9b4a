// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.testkit.internal.memory

import java.time.Instant

import scala.collection.immutable.SortedMap

import org.apache.spark.sql.types.StructType

import splice.source._
import splice.source.internal.entries.{SingleEntry, VersionedEntry}
import splice.source.log.{Coverage, Extent, LogOutlook, LogPartitions, LogRange, Outlook}
import splice.source.runtime.{ProgressMetric, Report}

/** Enumerator of the partitions of a log. */
final private[splice] class MemoryEnumerator(
    name: String,
    bounded: Boolean,
    starting: String,
    configured: Limits.Limited,
    columnar: Boolean,
    context: EnumeratorContext
) extends SplitEnumerator[MemoryPosition]
    with LogPartitions {

  private type Offsets = SortedMap[Int, Long]

  private def log                     = MemoryLog(name)
  private var frozen: Option[Offsets] = None
  private var fill                    = context.start.fold(SortedMap.empty[LogPartition, OffsetRanges])(_.fill)

  override def start(at: StartPosition): MemoryPosition = {
    log.call("start")
    val ends = frozen.getOrElse(now(log.end))
    if (bounded) write("ends")(ends)
    MemoryPosition(
      name,
      at match {
        case StartPosition.Configured if starting == "latest" => ends
        case StartPosition.Configured                         => now(log.earliest)
        case StartPosition.Time(millis, _)                    => now(log.offsetAt(_, millis))
        case StartPosition.Exact(json)                        => MemoryPosition.parse(name, json).next
        case StartPosition.Offsets(starts)                    =>
          fill = starts
          now(p => starts.get(LogPartition(name, p)).fold(log.earliest(p))(first))
      }
    )
  }

  override def limits(at: MemoryPosition): Limits.Limited = configured

  override def advance(from: MemoryPosition, limits: Limits): MemoryPosition = {
    val at    = from.next
    val ends  = last
    val begun = SortedMap.from(ends.keys.map(p => p -> at.getOrElse(p, begin(p))))
    val rows  = ends.map { case (p, end) => math.max(0L, end - begun(p)) }.sum
    if (limits.minRows.exists(rows < _)) from
    else {
      val share = limits.rows.map(max => math.max(1L, max / math.max(1, ends.size)))
      MemoryPosition(
        name,
        at ++ ends.map { case (p, end) => p -> math.max(begun(p), share.fold(end)(n => math.min(end, begun(p) + n))) }
      )
    }
  }

  override def splits(from: MemoryPosition, until: MemoryPosition): Seq[SplitRange] =
    until.next.toSeq.flatMap { case (p, end) =>
      val begin = from.next.getOrElse(p, this.begin(p))
      filled(p).getOrElse(Seq(begin -> end)).map { case (first, last) =>
        MemoryRange(name, p, math.max(first, begin), math.min(last, end), slotted = !bounded)
      }
    }.filter(r => r.until > r.from)

  override def readers(columns: StructType, ranges: Seq[SplitRange]): SplitReaderFactory = {
    log.call("readers")
    ranges.collect { case range: MemoryRange => MemoryReaders.key(range) }.foreach { key =>
      context.listeners.listen(key)(_ => log.call(s"received $key"))
    }
    new MemoryReaders(columns, columnar)
  }

  override def evidence(at: MemoryPosition): Option[Evidence] =
    if (bounded && last.forall { case (p, end) => at.next.get(p).exists(_ >= end) })
      Some(Evidence(at, () => modificationTimes(at)))
    else None

  // The time of the last record represents the modification time of a file.
  private def modificationTimes(at: MemoryPosition): Option[TimeRange] = {
    log.call("modificationTimes")
    at.next.toSeq.flatMap { case (p, end) => log.read(p, log.earliest(p), end) }.map(_.millis) match {
      case Seq()  => None
      case millis => Some(TimeRange(Instant.ofEpochMilli(millis.min), Instant.ofEpochMilli(millis.max)))
    }
  }

  override def remaining(at: MemoryPosition, covered: Coverage): Seq[SplitRange] = {
    log.call("remaining")
    for {
      (p, end) <- at.next.toSeq
      extent   <- covered.missing(p, log.earliest(p), end)
    } yield MemoryRange(name, p, extent.from, extent.until, slotted = false)
  }

  override def reported(reports: Seq[Report]): Unit = log.report(reports)

  override def freeze(): Unit = {
    log.call("freeze")
    frozen = Some(now(log.end))
  }

  override def committed(until: MemoryPosition): Unit = log.call(s"committed ${until.json}")

  override def figures(at: MemoryPosition): SortedMap[String, String] = SortedMap(
    ProgressMetric.Position -> at.next.map { case (p, offset) => s"$p:$offset" }.mkString(" "),
    ProgressMetric.Splits   -> at.next.size.toString
  )

  override def gauges(at: MemoryPosition): Iterable[(String, Long)] = Seq(ProgressMetric.Splits -> at.next.size.toLong)

  override def close(): Unit = MemoryLog(name).call("close")

  override def logRanges(history: SortedMap[LogPartition, Long]): SortedMap[LogPartition, LogRange] = {
    log.call("logRanges")
    SortedMap.from((0 until log.size).map(p => LogPartition(name, p) -> LogRange(log.earliest(p), log.end(p))))
  }

  override def outlook(): Outlook = {
    log.call("outlook")
    new Outlook {
      override def logs: SortedMap[LogPartition, LogOutlook] = logRanges(SortedMap.empty).map { case (p, range) =>
        val first = log.read(p.partition, range.from, math.min(range.until, range.from + 1)).headOption
        p -> LogOutlook(range, first.map(record => Instant.ofEpochMilli(record.millis)))
      }
    }
  }

  private def first(ranges: OffsetRanges): Long = ranges.fill.headOption.fold(ranges.from)(_._1)

  /** Ranges to read from a partition that begins with holes of a history. */
  private def filled(partition: Int): Option[Seq[(Long, Long)]] =
    fill.get(LogPartition(name, partition)).filter(_.fill.nonEmpty).map(of => of.fill :+ (of.from -> Long.MaxValue))

  private def last: Offsets = {
    log.call("ends")
    if (bounded) entry("ends").required else frozen.getOrElse(now(log.end))
  }

  private def begin(partition: Int): Long =
    write(s"begin-$partition")(SortedMap(partition -> log.earliest(partition)))(partition)

  private def now(offset: Int => Long): Offsets = SortedMap.from((0 until log.size).map(p => p -> offset(p)))

  private def write(key: String)(offsets: => Offsets): Offsets =
    entry(key).getOrCreate(VersionedEntry.write(Nil, Seq(MemoryPosition(name, offsets).json)))

  private def entry(key: String): SingleEntry[Offsets] =
    new SingleEntry(context.sideLog, key)(entry => MemoryPosition.parse(name, entry.line).next)
}

/** Range of one partition. */
final private[splice] case class MemoryRange(
    log: String,
    partition: Int,
    from: Long,
    until: Long,
    override val slotted: Boolean
) extends SplitRange {
  override def splitId: String = s"$log-$partition"
  override def weight: Long    = until - from

  override def extents: Seq[Extent] = Seq(Extent(partition, from, until))

  override def cuttable: Boolean = slotted

  override def pieces(weights: Seq[Long]): Seq[SplitRange] =
    weights.scanLeft(from)(_ + _).zip(weights).map { case (begin, rows) => copy(from = begin, until = begin + rows) }
}
