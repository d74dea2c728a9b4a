// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark.internal.table

import scala.util.Using

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.connector.read.{Batch, InputPartition, PartitionReaderFactory}
import org.apache.spark.sql.types.StructType

import splice.coordinator.internal.OffsetLog
import splice.coordinator.internal.sidelog.MemorySideLog
import splice.source.options.SourceOptions
import splice.source.{Position, ReadMode, Source}
import splice.spark.internal.read.{BatchPlan, SlotLocality, TaskReports}
import splice.spark.internal.stream.CoordinatorFactory

/** One bounded read, from the start of the source to its ends at the time of planning. */
final private[spark] class SpliceBatch(source: Source[_ <: Position], options: SourceOptions, columns: StructType)
    extends Batch {

  private lazy val plan: BatchPlan =
    Using.resource(
      CoordinatorFactory(source, options, columns, new MemorySideLog, ReadMode.Batch, None, OffsetLog.Empty)
    ) {
      coordinator =>
        val tasks   = coordinator.everything()
        val context = SparkSession.active.sparkContext
        BatchPlan(tasks, coordinator.readers(columns, tasks), SlotLocality(context), TaskReports(context))
    }

  override def planInputPartitions(): Array[InputPartition] = plan.partitions

  override def createReaderFactory(): PartitionReaderFactory = plan.factory
}
