// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.end

import org.apache.spark.sql.types._

import splice.files.FilesErrors
import splice.source.{LogPartition, OffsetRuns, OffsetSummary}

/** Finds which offsets of which log partitions the files hold: every offset counts, because neither the greatest one nor the
  * statistics of a file prove that those below it are there.
  *
  * @param columns
  *   topic, partition, offset
  */
final private[files] class OffsetScan(columns: Seq[HandOverColumn], paths: Seq[String]) {

  /** @throws splice.source.SpliceException when rows do not say which record they were */
  def over(scan: ListScan): Seq[OffsetSummary] = {
    val kinds   = columns.map(_.field.dataType)
    val tallies = scan
      .map(StructType(columns.map(_.field))) { rows =>
        val tally = new OffsetTally(kinds(1), kinds(2))
        rows.foreach(tally.add)
        Seq(tally.result)
      }
      .cache()
    try {
      refuse(tallies.map(_._2).collect())
      tallies.flatMap(_._1).groupByKey().map { case (of, parts) =>
        OffsetScan.summary(of, parts)
      }.collect().toSeq.sortBy(_.partition)
    } finally { val _ = tallies.unpersist() }
  }

  private def refuse(invalid: Array[Seq[Long]]): Unit =
    columns.zip(invalid.toSeq.transpose.map(_.sum)).find(_._2 > 0).foreach { case (column, count) =>
      throw FilesErrors.invalidOffsets(column.field.name, column.role, paths, count)
    }
}

private[files] object OffsetScan {

  /** How many ranges of missing or repeated offsets are kept; the counts cover all of them. */
  private val RangesKept = 100

  val Integral: PartialFunction[DataType, Unit] = { case LongType | IntegerType | ShortType | ByteType => () }

  val Text: PartialFunction[DataType, Unit] = { case _: StringType => () }

  private def summary(of: LogPartition, parts: Iterable[Array[Byte]]): OffsetSummary = {
    val all = new OffsetRuns
    parts.foreach(bytes => all.addAll(OffsetRuns.fromBytes(bytes)))
    OffsetSummary(
      of,
      all.first,
      all.last,
      all.count,
      all.holes.take(RangesKept).toList,
      all.rows,
      all.repeated.take(RangesKept).toList
    )
  }
}
