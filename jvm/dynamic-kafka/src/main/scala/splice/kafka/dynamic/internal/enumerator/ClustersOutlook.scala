// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.enumerator

import scala.collection.immutable.SortedMap

import splice.source.LogPartition
import splice.source.log.{LogOutlook, Outlook}

/** Outlook of several clusters. A topic has the name `<cluster>/<topic>`.
  *
  * @param inactive
  *   inactive clusters, which received no request
  */
final private[dynamic] class ClustersOutlook(outlooks: SortedMap[String, Outlook], inactive: collection.Set[String])
    extends Outlook {

  override def logs: SortedMap[LogPartition, LogOutlook] = SortedMap.from(for {
    (cluster, outlook) <- outlooks.iterator
    (p, log)           <- outlook.logs
  } yield LogPartition(s"$cluster/${p.topic}", p.partition) -> log)

  override def warnings: Seq[String] = outlooks.values.flatMap(_.warnings).toSeq ++ Option.when(inactive.nonEmpty) {
    s"the clusters ${inactive.toSeq.sorted.mkString(", ")} are not active, and are not in this plan."
  }
}
