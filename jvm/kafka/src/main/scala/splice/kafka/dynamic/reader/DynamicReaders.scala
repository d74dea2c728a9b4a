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

  override val columnar: Boolean = origin.isEmpty && clusters.values.forall(_.columnar)

  override def rows(task: SlotRanges): SplitReader[InternalRow] = inTurn(task) { (name, own) =>
    val inner = clusters(name).rows(SlotRanges(task.slot, own.map(_.range)))
    origin.fold(inner)(plan =>
      new OriginReader(inner, new OriginRow(plan, name, own.map(r => r.range.partition.topic -> r.stream).toMap))
    )
  }

  override def batches(task: SlotRanges): SplitReader[ColumnarBatch] = inTurn(task) { (name, own) =>
    clusters(name).batches(SlotRanges(task.slot, own.map(_.range)))
  }

  /** One cluster after the other. */
  private def inTurn[T](task: SlotRanges)(
      reader: (String, IndexedSeq[DynamicSplitRange]) => SplitReader[T]
  ): SplitReader[T] = {
    val ranges = task.ranges.collect { case range: DynamicSplitRange => range }
    val parts  = ranges.map(_.cluster.name).distinct.map(name => name -> ranges.filter(_.cluster.name == name))
    parts match {
      case Seq((name, own)) => reader(name, own)
      case several          => new ReaderSequence(several.iterator.map { case (name, own) => reader(name, own) })
    }
  }
}
