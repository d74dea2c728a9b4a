// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.reader

import scala.collection.immutable.SortedSet

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.vectorized.ColumnarBatch

import splice.kafka.dynamic.KafkaCluster
import splice.kafka.dynamic.internal.settings.ClusterSettings
import splice.kafka.dynamic.internal.split.DynamicSplitRange
import splice.kafka.internal.admission.RecordSizes
import splice.kafka.internal.reader.KafkaReaders
import splice.kafka.internal.value.KafkaSchema
import splice.source.internal.ReaderSequence
import splice.source.{EnumeratorContext, SplitRange, SplitReader, SplitReaderFactory, TaskRanges}

/** Readers of the clusters of one batch. A slot has a separate consumer for each cluster.
  *
  * @param clusters
  *   the readers by the name of the cluster
  * @param origin
  *   plan for the columns of the cluster and the stream; None if the query selects neither column
  * @param isOpen
  *   true if some ranges of the batch have no end. All clusters of a slot are then read at the same time
  */
final private[dynamic] case class DynamicReaders(
    clusters: Map[String, SplitReaderFactory],
    origin: Option[ProvenancePlan],
    isOpen: Boolean
) extends SplitReaderFactory {

  override val columnar: Boolean = clusters.values.forall(_.columnar)

  override def rows(task: TaskRanges): SplitReader[InternalRow] = together(task) { (name, ranges) =>
    val records = clusters(name).rows(TaskRanges(task.slot, ranges.map(_.range)))
    origin.fold(records)(plan => new ProvenanceRowReader(records, new ProvenanceRow(plan, originOf(name, ranges))))
  }

  override def batches(task: TaskRanges): SplitReader[ColumnarBatch] = together(task) { (name, ranges) =>
    val records = clusters(name).batches(TaskRanges(task.slot, ranges.map(_.range)))
    origin.fold(records)(new ProvenanceBatchReader(records, _, originOf(name, ranges)))
  }

  private def originOf(cluster: String, ranges: IndexedSeq[DynamicSplitRange]): Origin =
    new Origin(cluster, ranges.map(r => r.range.partition.topic -> r.stream).toMap)

  /** Reads up to [[DynamicReaders.AtOnce]] clusters at the same time, or all clusters. */
  private def together[T](task: TaskRanges)(
      reader: (String, IndexedSeq[DynamicSplitRange]) => SplitReader[T]
  ): SplitReader[T] = {
    val ranges = task.ranges.collect { case range: DynamicSplitRange => range }
    val parts  = ranges.map(_.cluster).distinct.map(name => name -> ranges.filter(_.cluster == name))
    def open(name: String, part: IndexedSeq[DynamicSplitRange]): SplitReader[T] =
      if (isOpen) new OpenClusterReader(name, part)(reader(name, _)) else reader(name, part)
    parts match {
      case Seq((name, part)) => open(name, part)
      case several           =>
        val created = several.map { case (name, part) => part -> (() => open(name, part)) }
        if (isOpen) new ReaderSequence(created, several.size, ReaderSequence.OpenTurn)
        else new ReaderSequence(created, DynamicReaders.AtOnce)
    }
  }
}

private[dynamic] object DynamicReaders {

  /** Creates the readers of the ranges of a batch.
    *
    * @param sizes
    *   returns the sizes of the records of a cluster
    * @param key
    *   returns the key of the reports of a cluster
    * @param cluster
    *   returns a cluster with its current properties
    */
  def apply(
      settings: ClusterSettings,
      columns: StructType,
      context: EnumeratorContext,
      ranges: Seq[SplitRange],
      sizes: String => RecordSizes,
      key: String => String
  )(cluster: String => KafkaCluster): DynamicReaders = {
    val origin = ProvenancePlan(columns, KafkaSchema(settings.base.includeHeaders, settings.base.value))
    val byName = ranges.collect { case range: DynamicSplitRange => range }.groupBy(_.cluster)
    val isOpen = ranges.exists(_.isOpen)
    DynamicReaders(
      byName.map { case (name, part) =>
        val of = settings(cluster(name), SortedSet.from(part.map(_.range.partition.topic)))
        name -> KafkaReaders(
          of,
          origin.fold(columns)(_.inner),
          context,
          key(name),
          part.map(_.range),
          sizes(name),
          if (isOpen) byName.size else math.min(byName.size, AtOnce),
          isOpen,
          settings.base.eventTime.nonEmpty
        )
      },
      origin,
      isOpen
    )
  }

  // With this number, rows of other clusters cover the round trips to one cluster. Each cluster may hold fetched
  // records in memory.
  private val AtOnce = 4
}
