// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.life.cluster

import java.nio.charset.StandardCharsets.UTF_8
import java.time.Duration

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow
import org.apache.spark.sql.types.StructType
import org.apache.spark.unsafe.types.UTF8String

import splice.kafka.dynamic.internal.reader.DynamicColumns
import splice.kafka.dynamic.internal.split.DynamicSplitRange
import splice.kafka.dynamic.life.planted.TimedFault
import splice.kafka.internal.value.KafkaSchema
import splice.source.{Poll, SplitRange, SplitReader, SplitReaderFactory, TaskRanges}

/** Readers of simulated records. The value of a record contains its cluster, partition and offset.
  *
  * @param ends
  *   the ends of the logs of open ranges, by split
  */
final private[life] class RangeReaders(columns: StructType, ends: Map[String, Long]) extends SplitReaderFactory {

  override def rows(task: TaskRanges): SplitReader[InternalRow] = new SplitReader[InternalRow] {
    private var left = task.ranges.collect { case range: DynamicSplitRange => range }.toList
    private var now  = Option.empty[InternalRow]

    override def poll(patience: Duration): Poll = {
      val next = left.find(range => range.range.from < math.min(range.range.until, ends(range.splitId)))
      now = next.map(range => row(range, range.range.from))
      next.foreach { range =>
        left = left.map(one => if (one eq range) TimedFault.from(range, range.range.from + 1) else one)
          .filter(one => one.range.from < one.range.until)
      }
      if (next.nonEmpty) Poll.Found else if (left.exists(_.isOpen)) Poll.Pending else Poll.Ended
    }

    override def unread: Seq[SplitRange] = left

    override def get(): InternalRow = now.get

    override def close(): Unit = ()
  }

  private def row(range: DynamicSplitRange, offset: Long): InternalRow = {
    val partition = range.range.partition
    val cells     = columns.fieldNames.map[Any] {
      case KafkaSchema.Key | KafkaSchema.Value => s"${range.cluster}/$partition:$offset".getBytes(UTF_8)
      case KafkaSchema.Topic                   => UTF8String.fromString(partition.topic)
      case KafkaSchema.Partition               => partition.partition
      case KafkaSchema.Offset                  => offset
      case KafkaSchema.Timestamp               => offset
      case KafkaSchema.TimestampType           => 0
      case DynamicColumns.Cluster              => UTF8String.fromString(range.cluster)
      case _                                   => UTF8String.fromString(range.stream)
    }
    new GenericInternalRow(cells)
  }
}
