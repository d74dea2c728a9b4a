// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.counting

import java.time.ZoneId

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.types.StringType
import org.apache.spark.sql.vectorized.ColumnarBatch
import org.apache.spark.unsafe.Platform

import splice.hybrid.internal.history.{LastRecord, RecordKey}

/** Keeps the timestamp and key of the row with the greatest offset of one log partition.
  *
  * Offsets mostly rise, so each row becomes the last row. Values are copied into reused fields. For column batches,
  * only the row number is kept until the end of the batch.
  */
final private[splice] class LastRow(cells: CountPlan.LastCells, zone: ZoneId) {

  private val time  = cells.timestamp.map(Integers(_))
  private val value = cells.timestamp.map(cell => new TimeValue(cell.kind, zone))

  private var offset   = -1L
  private var isMarked = false
  private var marked   = 0

  private var hasTime = false
  private var micros  = 0L
  private var key     = Array.emptyByteArray
  private var size    = -1

  /** True if `other` is greater than the kept offset. */
  def isBefore(other: Long): Boolean = offset < other

  /** Keeps the values of a row. */
  def take(at: Long, row: InternalRow): Unit = {
    offset = at
    keep(row)
  }

  /** Marks a row of the current batch. Returns false if another row of the batch was already marked. */
  def mark(at: Long, row: Int): Boolean = {
    val isFirst = !isMarked
    offset = at
    marked = row
    isMarked = true
    isFirst
  }

  /** Keeps the values of the marked row. */
  def take(batch: ColumnarBatch): Unit = {
    isMarked = false
    keep(batch.getRow(marked))
  }

  /** Kept record; None before the first row. */
  def result: Option[LastRecord] = Option.when(offset >= 0) {
    val ownKey = if (size < 0) RecordKey.Absent else RecordKey.of(key, size)
    LastRecord(offset, value.filter(_ => hasTime).map(_.millis(micros)), cells.key.map(_ => ownKey))
  }

  private def keep(row: InternalRow): Unit = {
    time match {
      case Some(column) =>
        hasTime = !row.isNullAt(column.ordinal)
        if (hasTime) micros = column.of(row)
      case None => ()
    }
    cells.key match {
      case Some(cell) => if (row.isNullAt(cell.ordinal)) size = -1 else keepKey(row, cell)
      case None       => ()
    }
  }

  private def keepKey(row: InternalRow, cell: CountPlan.Cell): Unit = row match {
    case unsafe: UnsafeRow =>
      // The field has the position of the value and its size. The getters of the row would allocate an object.
      val place = unsafe.getLong(cell.ordinal)
      reserve(place.toInt)
      Platform.copyMemory(
        unsafe.getBaseObject,
        unsafe.getBaseOffset + (place >>> 32),
        key,
        Platform.BYTE_ARRAY_OFFSET.toLong,
        size.toLong
      )
    case other =>
      cell.kind match {
        case _: StringType =>
          val text = other.getUTF8String(cell.ordinal)
          reserve(text.numBytes)
          text.writeToMemory(key, Platform.BYTE_ARRAY_OFFSET.toLong)
        case _ =>
          val bytes = other.getBinary(cell.ordinal)
          reserve(bytes.length)
          System.arraycopy(bytes, 0, key, 0, size)
      }
  }

  private def reserve(bytes: Int): Unit = {
    size = bytes
    if (key.length < bytes) key = new Array[Byte](math.max(bytes, 2 * key.length))
  }
}
