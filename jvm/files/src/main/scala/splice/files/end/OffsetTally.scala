// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.end

import scala.collection.mutable

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

import splice.source.{LogPartition, OffsetRuns}

/** Which offsets of which log partitions some rows hold. The rows have three columns: topic, partition, offset. */
final private[files] class OffsetTally(partition: DataType, offset: DataType) {

  private val offsets = mutable.Map.empty[LogPartition, OffsetRuns]
  private val invalid = Array.fill(3)(0L)

  // Rows of one log partition mostly stand together.
  private var topic  = UTF8String.EMPTY_UTF8
  private var number = -1
  private var runs   = new OffsetRuns

  def add(row: InternalRow): Unit = {
    val bad = OffsetTally.columns.filter(row.isNullAt)
    if (bad.nonEmpty) bad.foreach(invalid(_) += 1)
    else {
      val p = value(row, 1, partition)
      val o = value(row, 2, offset)
      if (p < 0 || p > Int.MaxValue) invalid(1) += 1
      else if (o < 0 || o == Long.MaxValue) invalid(2) += 1
      else {
        turnTo(row.getUTF8String(0), p.toInt)
        runs.add(o)
      }
    }
  }

  /** What was found, and how many rows have no valid value in each of the three columns. */
  def result: (Seq[(LogPartition, Array[Byte])], Seq[Long]) =
    (offsets.toSeq.map { case (of, runs) => of -> runs.toBytes }, invalid.toSeq)

  private def turnTo(name: UTF8String, p: Int): Unit =
    if (p != number || name != topic) {
      topic = name.copy()
      number = p
      runs = offsets.getOrElseUpdate(LogPartition(name.toString, p), new OffsetRuns)
    }

  private def value(row: InternalRow, i: Int, kind: DataType): Long = kind match {
    case LongType    => row.getLong(i)
    case IntegerType => row.getInt(i).toLong
    case ShortType   => row.getShort(i).toLong
    case _           => row.getByte(i).toLong
  }
}

private[files] object OffsetTally {
  private val columns = Seq(0, 1, 2)
}
