// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.change

import splice.kafka.dynamic.DynamicErrors
import splice.kafka.dynamic.split.DynamicPosition
import splice.source.{EnumeratorContext, SideLog}

/** A checkpoint that a source of one cluster began: which of the metadata's clusters that one is, decided once. */
final private[dynamic] class Takeover(log: SideLog, current: => AppliedMetadata) {

  private val Key = "takeover"

  /** A position with the name of its cluster.
    *
    * @throws splice.source.SpliceException
    *   when there is not exactly one cluster that it can be of
    */
  def apply(at: DynamicPosition): DynamicPosition = at.unnamed.fold(at) { position =>
    val name = log.getOrCreate(Key)(Seq(only)).mkString
    DynamicPosition.of(0, Seq(name -> position))
  }

  /** The context of a cluster's enumerator. The side log of the cluster that is taken over stays where its first source kept it. */
  def scope(context: EnumeratorContext, cluster: String): EnumeratorContext = {
    val own = context.scope(s"cluster-$cluster")
    if (log.get(Key).contains(Seq(cluster))) own.copy(sideLog = context.sideLog) else own
  }

  private def only: String = current.read.keySet.toSeq match {
    case Seq(name) => name
    case several   => throw DynamicErrors.notOneCluster(several)
  }
}
