// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.streams.internal.split

import org.apache.spark.sql.connector.read.InputPartition

import splice.source.SplitRange

/** Partition of a batch that the wrapped stream has planned. Splice cannot compare or cut the partition, so ranges are
  * equal if their batch and their index are equal.
  *
  * @param from
  *   name of the start of the batch
  * @param until
  *   name of the end of the batch
  * @param index
  *   index of the partition in the plan of the batch
  */
final private[streams] case class StreamRange(from: String, until: String, index: Int)(val partition: InputPartition)
    extends SplitRange {

  override def splitId: String = s"partition-$index"

  override def preferredHosts: Seq[String] = partition.preferredLocations.toSeq
}

private[streams] object StreamRange {

  def of(from: StreamPosition, until: StreamPosition, partitions: Array[InputPartition]): Seq[StreamRange] =
    partitions.toSeq.zipWithIndex.map { case (partition, index) =>
      StreamRange(from.name, until.name, index)(partition)
    }
}
