// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.cluster

import splice.kafka.dynamic.internal.errors.DynamicErrors
import splice.kafka.dynamic.internal.split.DynamicPosition
import splice.kafka.dynamic.internal.state.AppliedMetadata
import splice.source.EnumeratorContext
import splice.source.errors.CheckpointErrors
import splice.source.internal.entries.{Json, VersionedEntry}
import splice.source.runtime.SideLog

/** A checkpoint that a source of one cluster began: the metadata's cluster that it belongs to, decided once. */
final private[dynamic] class SingleClusterCheckpoint(log: SideLog, current: => AppliedMetadata) {

  private val Key = "takeover"

  /** A position with the name of its cluster, which is decided and durable when this returns.
    *
    * @throws splice.source.errors.SpliceException
    *   when the metadata has no cluster, or several
    */
  def apply(at: DynamicPosition): DynamicPosition =
    named(at)(Some(read(log.getOrCreate(Key)(VersionedEntry.write("cluster" -> Json.text(only)))))).getOrElse(at)

  /** The same without a decision; None when it is needed and was never made. */
  def find(at: DynamicPosition): Option[DynamicPosition] = named(at)(decided)

  /** @throws splice.source.errors.SpliceException when the decision is needed and was never made */
  def required(at: DynamicPosition): DynamicPosition =
    find(at).getOrElse(throw CheckpointErrors.missingEntry(s"Side-log entry $Key"))

  /** The context of a cluster's enumerator. The side log of the cluster that is taken over stays where its first source kept it. */
  def scope(context: EnumeratorContext, cluster: String): EnumeratorContext = {
    val own = context.scope(s"cluster-$cluster")
    if (decided.contains(cluster)) own.copy(sideLog = context.sideLog) else own
  }

  private def named(at: DynamicPosition)(cluster: => Option[String]): Option[DynamicPosition] =
    at.unnamed.fold(Option(at))(position => cluster.map(name => DynamicPosition.of(0, Seq(name -> position))))

  private def decided: Option[String] = log.get(Key).map(read)

  private def read(lines: Seq[String]): String = VersionedEntry.read(Key, lines).text("cluster")

  private def only: String = current.read.keySet.toSeq match {
    case Seq(name) => name
    case several   => throw DynamicErrors.notOneCluster(several)
  }
}
