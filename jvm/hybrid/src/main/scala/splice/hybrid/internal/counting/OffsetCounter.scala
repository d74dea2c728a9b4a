// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.counting

import scala.collection.mutable

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.execution.vectorized.{ConstantColumnVector, WritableColumnVector}
import org.apache.spark.sql.vectorized.{ColumnVector, ColumnarBatch}
import org.apache.spark.unsafe.types.UTF8String

import splice.source.LogPartition
import splice.source.log.OffsetRuns

/** Collects all offsets of rows per log partition. The greatest offset and file statistics do not prove that lower
  * offsets exist. Rows without a column for the topic have the topic [[LogPartition.topic]] `""`.
  *
  * @param topic
  *   ordinal of the topic, or [[OffsetCounter.OneTopic]]
  */
final private[splice] class OffsetCounter(topic: Int, partition: Integers, offset: Integers) extends ColumnCounter {

  private val hasTopic = topic != OffsetCounter.OneTopic
  private val topics   = mutable.HashMap.empty[UTF8String, mutable.LongMap[OffsetRuns]]
  private val rejected = new Array[Long](3)

  // Consecutive rows mostly belong to the same partition.
  private var name       = UTF8String.EMPTY_UTF8
  private var partitions = mutable.LongMap.empty[OffsetRuns]
  private var number     = -1L
  private var runs       = new OffsetRuns

  topics(name) = partitions

  override def add(row: InternalRow): Unit =
    if (hasTopic && row.isNullAt(topic) || row.isNullAt(partition.ordinal) || row.isNullAt(offset.ordinal)) {
      if (hasTopic && row.isNullAt(topic)) rejected(0) += 1
      if (row.isNullAt(partition.ordinal)) rejected(1) += 1
      if (row.isNullAt(offset.ordinal)) rejected(2) += 1
    } else {
      if (hasTopic) turnTo(row.getUTF8String(topic))
      count(partition.of(row), offset.of(row), 1)
    }

  override def add(batch: ColumnarBatch): Unit = {
    val numbers = batch.column(partition.ordinal)
    val offsets = batch.column(offset.ordinal)
    val rows    = batch.numRows
    if (hasTopic && batch.column(topic).hasNull || numbers.hasNull || offsets.hasNull) addRows(batch)
    else if (rows > 0) {
      val (ofPartitions, ofOffsets) = (partition.of(numbers, rows), offset.of(offsets, rows))
      if (hasTopic) addParts(batch.column(topic), rows, ofPartitions, ofOffsets)
      else addPart(ofPartitions, ofOffsets, 0, rows)
    }
  }

  /** Numbers of rows with an invalid topic, partition and offset. */
  def invalid: Seq[Long] = rejected.toSeq

  /** Serialised offsets per log partition. */
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

  /** Adds the rows in runs of one topic. */
  private def addParts(texts: ColumnVector, rows: Int, numbers: Array[Long], offsets: Array[Long]): Unit = texts match {
    case constant: ConstantColumnVector =>
      turnTo(constant.getUTF8String(0))
      addPart(numbers, offsets, 0, rows)
    case coded: WritableColumnVector if coded.hasDictionary =>
      // A dictionary code has the same text in the whole batch.
      val codes = coded.getDictionaryIds.getInts(0, rows)
      var from  = 0
      while (from < rows) {
        var until = from + 1
        while (until < rows && codes(until) == codes(from)) until += 1
        turnTo(coded.getUTF8String(from))
        addPart(numbers, offsets, from, until)
        from = until
      }
    case plain =>
      var i = 0
      while (i < rows) {
        turnTo(plain.getUTF8String(i))
        addPart(numbers, offsets, i, i + 1)
        i += 1
      }
  }

  /** Adds rows of the current topic as ranges of consecutive offsets. */
  private def addPart(numbers: Array[Long], offsets: Array[Long], from: Int, until: Int): Unit = {
    var i = from
    while (i < until) {
      val p     = numbers(i)
      val first = offsets(i)
      var j     = i + 1
      while (
        j < until && numbers(j) == p &&
        offsets(j) ==
          first +
          (j - i) && offsets(j) != Long.MaxValue && first >= 0
      )
        j += 1
      count(p, first, j - i)
      i = j
    }
  }

  private def turnTo(text: UTF8String): Unit = if (text != name) {
    name = text.copy()
    partitions = topics.getOrElseUpdate(name, mutable.LongMap.empty)
    number = -1L
  }

  /** Counts rows of the current topic. */
  private def count(p: Long, first: Long, rows: Int): Unit =
    if (p < 0 || p > Int.MaxValue) rejected(1) += rows
    else if (first < 0 || first == Long.MaxValue) rejected(2) += rows
    else {
      if (p != number) {
        number = p
        runs = partitions.getOrElseUpdate(p, new OffsetRuns)
      }
      runs.add(first, first + rows)
    }
}

private[counting] object OffsetCounter {

  /** Ordinal of the topic if the rows have no column for it. */
  val OneTopic: Int = -1
}
