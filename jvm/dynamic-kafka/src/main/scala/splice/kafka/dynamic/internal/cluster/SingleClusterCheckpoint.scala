// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.cluster

import splice.kafka.dynamic.internal.errors.DynamicErrors
import splice.kafka.dynamic.internal.split.DynamicPosition
import splice.kafka.dynamic.internal.state.AppliedMetadata
import splice.source.EnumeratorContext
import splice.source.errors.CheckpointErrors
import splice.source.internal.entries.{Json, SingleEntry, VersionedEntry}
import splice.source.runtime.SideLog

/** Checkpoint that a source of one cluster began. The cluster name in the metadata is determined once and stored. */
final private[dynamic] class SingleClusterCheckpoint(log: SideLog, current: => AppliedMetadata) {

  private val Key = "takeover"

  private val entry = new SingleEntry(log, Key)(_.text("cluster"))

  /** Returns a position with the name of its cluster, which is durable when this returns.
    *
    * @throws splice.source.errors.SpliceException
    *   if the metadata has no cluster, or several clusters
    */
  def apply(at: DynamicPosition): DynamicPosition =
    named(at)(Some(entry.getOrCreate(VersionedEntry.write("cluster" -> Json.text(only))))).getOrElse(at)

  /** Returns the position without determining the name; None if the name is needed and was not stored. */
  def find(at: DynamicPosition): Option[DynamicPosition] = named(at)(entry.find)

  /** Returns the position without determining the name.
    *
    * @throws splice.source.errors.SpliceException
    *   if the name is needed and was not stored
    */
  def required(at: DynamicPosition): DynamicPosition =
    find(at).getOrElse(throw CheckpointErrors.missingEntry(s"Side-log entry $Key"))

  /** Returns the context of a cluster's enumerator. The cluster of the first source keeps its entries in the side log
    * of the source, without a scope.
    */
  def scope(context: EnumeratorContext, cluster: String): EnumeratorContext = {
    val scoped = context.scope(s"cluster-$cluster")
    if (entry.find.contains(cluster)) scoped.copy(sideLog = context.sideLog) else scoped
  }

  private def named(at: DynamicPosition)(cluster: => Option[String]): Option[DynamicPosition] =
    at.unnamed.fold(Option(at))(position => cluster.map(name => DynamicPosition.of(0, Seq(name -> position))))

  private def only: String = current.read.keySet.toSeq match {
    case Seq(name) => name
    case several   => throw DynamicErrors.notOneCluster(several)
  }
}
