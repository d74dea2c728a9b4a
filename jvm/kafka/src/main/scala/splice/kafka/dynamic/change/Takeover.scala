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

  /** What a cluster's enumerator remembers is where the source before kept it, if there was one. */
  def scope(context: EnumeratorContext, cluster: String): EnumeratorContext =
    if (log.get(Key).contains(Seq(cluster))) context else context.scope(s"cluster-$cluster")

  private def only: String = current.read.keySet.toSeq match {
    case Seq(name) => name
    case several   => throw DynamicErrors.notOneCluster(several)
  }
}
