// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.reader

import org.apache.spark.sql.catalyst.InternalRow

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

  override def rows(task: SlotRanges): SplitReader[InternalRow] = {
    val ranges = task.ranges.collect { case range: DynamicSplitRange => range }
    val parts  = ranges.map(_.cluster.name).distinct.map(name => name -> ranges.filter(_.cluster.name == name))
    parts match {
      case Seq((name, own)) => reader(name, own, task.slot)
      case several => new ReaderSequence(several.iterator.map { case (name, own) => reader(name, own, task.slot) })
    }
  }

  private def reader(name: String, own: IndexedSeq[DynamicSplitRange], slot: Int): SplitReader[InternalRow] = {
    val inner = clusters(name).rows(SlotRanges(slot, own.map(_.range)))
    origin.fold(inner)(plan =>
      new OriginReader(inner, new OriginRow(plan, name, own.map(r => r.range.partition.topic -> r.stream).toMap))
    )
  }
}
