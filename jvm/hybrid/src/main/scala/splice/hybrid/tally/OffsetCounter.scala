// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.tally

import scala.collection.mutable

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.execution.vectorized.{ConstantColumnVector, WritableColumnVector}
import org.apache.spark.sql.vectorized.{ColumnVector, ColumnarBatch}
import org.apache.spark.unsafe.types.UTF8String

import splice.source.{LogPartition, OffsetRuns}

/** Counts which offsets of which log partitions rows hold: every offset, because neither the greatest one nor the statistics of a
  * file prove that those below it exist.
  */
final private[tally] class OffsetCounter(topic: Int, partition: Integers, offset: Integers) extends ColumnCounter {

  private val topics  = mutable.HashMap.empty[UTF8String, mutable.LongMap[OffsetRuns]]
  private val refused = new Array[Long](3)

  // Rows of one partition are mostly next to each other.
  private var name       = UTF8String.EMPTY_UTF8
  private var partitions = mutable.LongMap.empty[OffsetRuns]
  private var number     = -1L
  private var runs       = new OffsetRuns

  topics(name) = partitions

  override def add(row: InternalRow): Unit =
    if (row.isNullAt(topic) || row.isNullAt(partition.ordinal) || row.isNullAt(offset.ordinal)) {
      if (row.isNullAt(topic)) refused(0) += 1
      if (row.isNullAt(partition.ordinal)) refused(1) += 1
      if (row.isNullAt(offset.ordinal)) refused(2) += 1
    } else {
      turnTo(row.getUTF8String(topic))
      count(partition.of(row), offset.of(row))
    }

  override def add(batch: ColumnarBatch): Unit = {
    val texts   = batch.column(topic)
    val numbers = batch.column(partition.ordinal)
    val offsets = batch.column(offset.ordinal)
    if (texts.hasNull || numbers.hasNull || offsets.hasNull) addRows(batch)
    else
      texts match {
        case one: ConstantColumnVector                          => addOf(one, numbers, offsets, batch.numRows)
        case coded: WritableColumnVector if coded.hasDictionary => addCoded(coded, numbers, offsets, batch.numRows)
        case plain                                              => addPlain(plain, numbers, offsets, batch.numRows)
      }
  }

  /** How many rows have no valid topic, partition, offset. */
  def invalid: Seq[Long] = refused.toSeq

  /** The bytes of the offsets of each log partition. */
  def result: Seq[(LogPartition, Array[Byte])] = (for {
    (name, partitions) <- topics.iterator
    (number, runs)     <- partitions.iterator
  } yield LogPartition(name.toString, number.toInt) -> runs.toBytes).toSeq

  private def addRows(batch: ColumnarBatch): Unit = {
    var i = 0
    while (i < batch.numRows) {
      add(batch.getRow(i))
      i += 1
    }
  }

  private def addOf(topic: ColumnVector, numbers: ColumnVector, offsets: ColumnVector, rows: Int): Unit =
    if (rows > 0) {
      turnTo(topic.getUTF8String(0))
      var i = 0
      while (i < rows) {
        count(partition.of(numbers, i), offset.of(offsets, i))
        i += 1
      }
    }

  // A code means the same text in the whole batch.
  private def addCoded(topics: WritableColumnVector, numbers: ColumnVector, offsets: ColumnVector, rows: Int): Unit = {
    val codes = topics.getDictionaryIds
    var last  = -1
    var i     = 0
    while (i < rows) {
      val code = codes.getDictId(i)
      if (code != last) {
        turnTo(topics.getUTF8String(i))
        last = code
      }
      count(partition.of(numbers, i), offset.of(offsets, i))
      i += 1
    }
  }

  private def addPlain(topics: ColumnVector, numbers: ColumnVector, offsets: ColumnVector, rows: Int): Unit = {
    var i = 0
    while (i < rows) {
      turnTo(topics.getUTF8String(i))
      count(partition.of(numbers, i), offset.of(offsets, i))
      i += 1
    }
  }

  private def turnTo(text: UTF8String): Unit = if (text != name) {
    name = text.copy()
    partitions = topics.getOrElseUpdate(name, mutable.LongMap.empty)
    number = -1L
  }

  private def count(p: Long, o: Long): Unit =
    if (p < 0 || p > Int.MaxValue) refused(1) += 1
    else if (o < 0 || o == Long.MaxValue) refused(2) += 1
    else {
      if (p != number) {
        number = p
        runs = partitions.getOrElseUpdate(p, new OffsetRuns)
      }
      runs.add(o)
    }
}
