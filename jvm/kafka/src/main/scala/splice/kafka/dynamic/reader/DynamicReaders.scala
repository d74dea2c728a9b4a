// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.reader

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.vectorized.ColumnarBatch

import splice.kafka.dynamic.split.DynamicSplitRange
import splice.source.{ReaderSequence, SlotRanges, SplitReader, SplitReaderFactory}

/** The readers of the clusters that one batch touches. A slot has a consumer for each cluster, never one for several.
  *
  * @param clusters
  *   by name
  * @param origin
  *   how columns are added that say where a row comes from; None when none is asked for
  */
final private[dynamic] case class DynamicReaders(clusters: Map[String, SplitReaderFactory], origin: Option[OriginPlan])
    extends SplitReaderFactory {

  override val columnar: Boolean = clusters.values.forall(_.columnar)

  override def rows(task: SlotRanges): SplitReader[InternalRow] = together(task) { (name, own) =>
    val records = clusters(name).rows(SlotRanges(task.slot, own.map(_.range)))
    origin.fold(records)(plan => new OriginRowReader(records, new OriginRow(plan, originOf(name, own))))
  }

  override def batches(task: SlotRanges): SplitReader[ColumnarBatch] = together(task) { (name, own) =>
    val records = clusters(name).batches(SlotRanges(task.slot, own.map(_.range)))
    origin.fold(records)(new OriginBatchReader(records, _, originOf(name, own)))
  }

  private def originOf(cluster: String, ranges: IndexedSeq[DynamicSplitRange]): Origin =
    new Origin(cluster, ranges.map(r => r.range.partition.topic -> r.stream).toMap)

  /** Some clusters at once. */
  private def together[T](task: SlotRanges)(
      reader: (String, IndexedSeq[DynamicSplitRange]) => SplitReader[T]
  ): SplitReader[T] = {
    val ranges = task.ranges.collect { case range: DynamicSplitRange => range }
    val parts  = ranges.map(_.cluster.name).distinct.map(name => name -> ranges.filter(_.cluster.name == name))
    parts match {
      case Seq((name, own)) => reader(name, own)
      case several          =>
        new ReaderSequence(several.iterator.map { case (name, own) => reader(name, own) }, DynamicReaders.AtOnce)
    }
  }
}

private[dynamic] object DynamicReaders {

  // Enough that one cluster's round trips are hidden behind another one's rows; each may hold fetched records in memory.
  private val AtOnce = 4
}
