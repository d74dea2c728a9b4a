// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.tables.internal.enumerator

import scala.annotation.tailrec
import scala.collection.immutable.SortedMap

import org.apache.spark.sql.types.StructType

import splice.source._
import splice.source.errors.{CheckpointErrors, SpliceException}
import splice.source.internal.entries.{NumberedEntries, SingleEntry}
import splice.source.log.{Coverage, Outlook}
import splice.source.runtime.ProgressMetric
import splice.tables.internal.slices.Slices
import splice.tables.internal.split.TableRange

/** Reads a table in slices. The first start of a query fixes the version and the slices in the entry `table`. An entry
  * `parts-<n>` fixes the slices of a batch and the number of their parts, before the position after the batch exists.
  */
final private[tables] class TableEnumerator(
    storage: TableStorage,
    configured: Limits.Limited,
    context: EnumeratorContext
) extends SplitEnumerator[TablePosition] {

  private val entry = new SingleEntry(context.sideLog, TableEntry.Key)(TableEntry.read)

  private lazy val batches = new NumberedEntries(context.sideLog, PlannedBatch.Prefix)(PlannedBatch.read)

  private lazy val content = {
    val stored = entry.required
    storage.difference(stored).foreach(throw _)
    stored
  }

  private lazy val end = content.slices.size

  // Version and slices at the time of the freeze; None if an entry was already stored.
  private var frozen = Option.empty[TableContent]

  // Size of one slice in the last batch that this run planned.
  private var perSlice = Option.empty[BigInt]

  override def start(at: StartPosition): TablePosition = at match {
    case StartPosition.Configured =>
      entry.create(TableEntry.write(frozen.getOrElse(storage.describe(context))))
      frozen = None
      TablePosition.Start
    case other => throw new IllegalStateException(s"a table cannot begin at $other")
  }

  override def freeze(): Unit = if (!entry.exists) frozen = Some(storage.describe(context))

  override def limits(at: TablePosition): Limits.Limited = configured

  override def advance(from: TablePosition, limits: Limits): TablePosition = {
    @tailrec def reach(at: Int): Int =
      if (at >= end) at
      else {
        // An earlier run may have planned the batch, and may have stopped before Spark logged the batch.
        val next = batches.find(at).getOrElse(plan(at, limits)).until
        if (limits == Limits.Everything) reach(next) else next
      }
    val until = reach(checked(from).slices)
    if (until == from.slices) from else TablePosition(until.toLong)
  }

  private def plan(from: Int, limits: Limits): PlannedBatch = {
    def size(until: Int) = storage.size(content, from, until, context.columns)
    val (until, planned) = limits.bytes match {
      case None        => (end, size(end))
      case Some(limit) => BatchSize.choose(from, end, BigInt(limit), perSlice)(size)(_.bytes)
    }
    perSlice = Some(planned.bytes / (until - from))
    batches.getOrCreate(from)(PlannedBatch(from, until, planned.partitions.max(1)).lines)
  }

  override def splits(from: TablePosition, until: TablePosition): Seq[TableRange] = {
    @tailrec def all(at: Int, found: Vector[PlannedBatch]): Vector[PlannedBatch] =
      if (at == until.slices) found
      else {
        val next = batches(at)
        if (next.until > until.slices || next.until <= at) throw foreign(until) else all(next.until, found :+ next)
      }
    if (checked(from) == checked(until)) Nil else all(from.slices, Vector.empty).flatMap(_.ranges)
  }

  override def readers(columns: StructType, ranges: Seq[SplitRange]): SplitReaderFactory =
    storage.readers(
      content,
      columns,
      ranges.collect { case range: TableRange => range.from -> range.until }.distinct
    )

  override def evidence(at: TablePosition): Option[Evidence] = Option.when(checked(at).slices == end) {
    val version = content.pinned.version
    Evidence(
      at,
      () => Some(TimeRange(version.committed, version.committed)),
      table = Some(version),
      lastBatch = storage.lastBatch(content, _),
      after = () => storage.after(content)
    )
  }

  override def remaining(at: TablePosition, covered: Coverage): Seq[TableRange] =
    covered.missing(0, 0L, at.n).filter(_.rows.isEmpty).flatMap { missing =>
      val (from, until) = (missing.from.toInt, missing.until.toInt)
      PlannedBatch(from, until, storage.size(content, from, until, None).partitions.max(1)).ranges
    }

  override def retain(oldest: TablePosition): Unit = batches.purge(batches.numbers.rangeUntil(oldest.slices).toSeq)

  override def outlook(): Outlook = {
    val described = entry.find.getOrElse(storage.describe(context.copy(mode = ReadMode.Batch)))
    new TableOutlook(described, storage)
  }

  override def figures(at: TablePosition): SortedMap[String, String] = SortedMap(
    ProgressMetric.Position -> s"${at.n} of $end slices",
    ProgressMetric.Splits   -> (end - at.slices).toString
  )

  private def checked(at: TablePosition): TablePosition = if (at.n > end) throw foreign(at) else at

  private def foreign(at: TablePosition): SpliceException =
    CheckpointErrors.foreign(s"The offset '$at'", s"an end of a batch in a table of $end slices")
}

/** Outlook of a table. */
final private[tables] class TableOutlook(content: TableContent, storage: TableStorage) extends Outlook {

  private lazy val size = content.slices match {
    case Slices.Empty => TableStorage.Size(0, 0)
    case slices       => storage.size(content, 0, slices.size, None)
  }

  override def bytes: Option[Long] = Some(size.bytes).filter(_.isValidLong).map(_.toLong)

  override def modified: Option[TimeRange] =
    content.pinned.version.id.map(_ => TimeRange(content.pinned.version.committed, content.pinned.version.committed))

  override def warnings: Seq[String] = content.slices match {
    case Slices.Whole if size.bytes > TableOutlook.Large =>
      Seq(
        s"One batch reads the whole table of ${size.bytes} bytes, because the table has no partition column. A failure " +
          "repeats the whole batch. Set 'sliceBy' with 'sliceEvery' or 'slices' to divide the table."
      )
    case _ => Nil
  }
}

private object TableOutlook {
  private val Large = BigInt(8L << 30)
}
