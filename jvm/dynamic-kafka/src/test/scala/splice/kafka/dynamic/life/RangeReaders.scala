// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.life

import java.nio.charset.StandardCharsets.UTF_8
import java.time.Duration

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow
import org.apache.spark.sql.types.StructType
import org.apache.spark.unsafe.types.UTF8String

import splice.kafka.KafkaSchema
import splice.kafka.dynamic.DynamicColumns
import splice.kafka.dynamic.split.DynamicSplitRange
import splice.source.{Poll, SplitReader, SplitReaderFactory, TaskRanges}

/** Readers of simulated records. The value of a record names its cluster, partition and offset. */
final private[life] class RangeReaders(columns: StructType) extends SplitReaderFactory {

  override def rows(task: TaskRanges): SplitReader[InternalRow] = new SplitReader[InternalRow] {
    private val rows = task.ranges.iterator.collect { case range: DynamicSplitRange =>
      (range.range.from until range.range.until).iterator.map(row(range, _))
    }.flatten
    private var now = Option.empty[InternalRow]

    override def poll(patience: Duration): Poll = {
      now = rows.nextOption()
      if (now.isEmpty) Poll.Ended else Poll.Found
    }

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
