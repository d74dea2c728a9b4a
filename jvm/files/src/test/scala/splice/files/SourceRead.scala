// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files

import java.time.Clock

import scala.annotation.tailrec
import scala.util.Using

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.vectorized.ColumnarBatch
import org.apache.spark.sql.{DataFrame, SparkSession}

import splice.coordinator.internal.sidelog.MemorySideLog
import splice.files.internal.enumerator.FilesPosition
import splice.source._
import splice.source.options.SourceOptions
import splice.source.runtime.{SessionSettings, SideLog}

/** Reads a file source directly with its enumerator, ranges and tasks, without a Spark query. */
final class SourceRead(
    val source: FileSource,
    log: SideLog = new MemorySideLog,
    mode: ReadMode = ReadMode.Stream,
    cores: Int = 2,
    session: SessionSettings = SessionSettings.current
) {

  val enumerator: SplitEnumerator[FilesPosition] =
    source.enumerator(EnumeratorContext(log, mode, Clock.systemUTC(), cores, "test", session = session))

  /** Returns all positions from the first to the last. */
  def positions: Seq[FilesPosition] = {
    @tailrec def from(done: Vector[FilesPosition]): Seq[FilesPosition] = {
      val next = enumerator.advance(done.last, enumerator.limits(done.last))
      if (next == done.last) done else from(done :+ next)
    }
    from(Vector(enumerator.start(StartPosition.Configured)))
  }

  def allRanges: Seq[SplitRange] = {
    val all = positions
    enumerator.splits(all.head, all.last)
  }

  def evidence: Evidence = enumerator.evidence(positions.last).get

  def rows(columns: StructType = source.schema, ranges: Seq[SplitRange] = allRanges): Seq[String] =
    read(columns, ranges)((factory, task) => SourceRead.rows(factory.rows(task), columns))

  def batches(columns: StructType = source.schema, ranges: Seq[SplitRange] = allRanges): Seq[String] =
    read(columns, ranges)((factory, task) => SourceRead.batches(factory.batches(task), columns))

  def columnar(columns: StructType = source.schema): Boolean =
    enumerator.readers(columns, allRanges).columnar

  private def read(columns: StructType, ranges: Seq[SplitRange])(
      rows: (SplitReaderFactory, TaskRanges) => Seq[String]
  ): Seq[String] = {
    val factory = enumerator.readers(columns, ranges)
    val tasks   = ranges.map(r => TaskRanges(None, IndexedSeq(r)))
    SparkSession.active.sparkContext
      .parallelize(tasks, math.max(1, tasks.size))
      .flatMap(rows(factory, _))
      .collect()
      .toSeq
      .sorted
  }
}

object SourceRead {

  def apply(options: (String, String)*): SourceRead = new SourceRead(source(options: _*))

  def source(options: (String, String)*): FileSource =
    SourceProvider.create(SourceOptions(Map("source" -> "files") ++ options)).asInstanceOf[FileSource]

  /** Reads all ranges in sequence in this thread. */
  def here[A](readers: SplitReaderFactory, ranges: Seq[SplitRange])(item: InternalRow => A): Seq[A] =
    ranges.flatMap { range =>
      Using.resource(readers.rows(TaskRanges(None, IndexedSeq(range))))(r => SplitReader.items(r).map(item).toVector)
    }

  private def rows(reader: SplitReader[InternalRow], columns: StructType): Seq[String] =
    Using.resource(reader) { r =>
      SplitReader.items(r).map(text(_, columns)).toVector
    }

  private def batches(reader: SplitReader[ColumnarBatch], columns: StructType): Seq[String] =
    Using.resource(reader) { r =>
      SplitReader
        .items(r)
        .flatMap(batch => (0 until batch.numRows).map(i => text(batch.getRow(i), columns)))
        .toVector
    }

  /** Reads rows with Spark's reader. */
  def ofSpark(read: DataFrame): Seq[String] = {
    val columns = read.schema
    read.queryExecution.toRdd.map(text(_, columns)).collect().toSeq.sorted
  }

  /** Returns the bytes of a row as text, so that equal texts have equal content. */
  def text(row: InternalRow, columns: StructType): String =
    UnsafeProjection.create(columns)(row).toString
}
