// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.cluster

import scala.collection.immutable.SortedMap

import splice.kafka.dynamic.internal.split.DynamicPosition
import splice.source.{EnumeratorContext, LogPartition, OffsetRanges, StartPosition, StoredStart}

/** Contexts of the clusters' enumerators, each with the part of the start that belongs to its cluster.
  *
  * @param position
  *   returns the position of an offset, with the names of clusters
  */
final private[dynamic] class ClusterScopes(
    context: EnumeratorContext,
    takeover: SingleClusterCheckpoint
)(
    position: String => DynamicPosition
) {

  // The threads of workers read this field when they create an enumerator again.
  @volatile private var starts = Option.empty[SortedMap[String, StoredStart]]

  /** Stores the start of the source. */
  def begin(at: DynamicPosition, wanted: StartPosition): Unit = starts = Some(ofClusters(
    at,
    wanted match {
      case StartPosition.Offsets(ranges) => ranges
      case _                             => SortedMap.empty
    }
  ))

  /** Returns a function that creates the context of a cluster. The query's thread calls this method; any thread may
    * call the function.
    */
  def apply(cluster: String): () => EnumeratorContext = {
    if (starts.isEmpty) starts = context.start.map(stored => ofClusters(position(stored.position), stored.fill))
    val scope = takeover.scope(context, cluster)
    () => scope.copy(start = starts.flatMap(_.get(cluster)))
  }

  private def ofClusters(
      at: DynamicPosition,
      fill: SortedMap[LogPartition, OffsetRanges]
  ): SortedMap[String, StoredStart] = at.clusters.map { case (name, part) =>
    name -> StoredStart(part.json, ClusterStart.within(name, fill).filter { case (p, _) => part.get(p).nonEmpty })
  }
}
