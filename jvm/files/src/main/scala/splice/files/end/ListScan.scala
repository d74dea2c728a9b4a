// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.end

import scala.reflect.ClassTag
import scala.util.Using

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.StructType

import splice.files.split.FileRange
import splice.source.{SplitReader, SplitReaderFactory, TaskRanges}

/** Reads some columns of all listed files in a Spark job, with the readers and tasks of the source itself. */
final private[files] class ListScan(readers: StructType => SplitReaderFactory, ranges: Seq[FileRange]) {

  /** What `task` makes of the rows of each task; rows are one reused object. */
  def map[A: ClassTag](columns: StructType)(task: Iterator[InternalRow] => Seq[A]): RDD[A] = {
    val context = SparkSession.active.sparkContext
    val factory = readers(columns)
    context
      .makeRDD(ranges.map(range => (range, range.preferredHosts)))
      .mapPartitions(_.flatMap { range =>
        Using.resource(factory.rows(TaskRanges(None, IndexedSeq(range))))(reader => task(ListScan.rows(reader)))
      })
  }
}

private[files] object ListScan {

  private def rows(reader: SplitReader[InternalRow]): Iterator[InternalRow] =
    SplitReader.items(reader)
}
