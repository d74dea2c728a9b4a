// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.simulation.planted

import java.time.Clock

import splice.files.internal.enumerator.FilesPosition
import splice.hybrid.internal.chain.Leg
import splice.hybrid.internal.split.HybridPosition
import splice.kafka.internal.cluster.ClusterClient
import splice.kafka.internal.split.KafkaPosition
import splice.simulation.{ChainEdits, ChainPlan, Shape}
import splice.source.SplitEnumerator
import splice.source.internal.legs.LegIdentity
import splice.source.runtime.SideLog
import splice.testkit.internal.simulation.SimulatedCluster
import splice.testkit.simulation.TaskRows

/** Hooks of an injected fault. The defaults have no effect.
  *
  * @param fits
  *   true for scenarios that may have the situation of the fault
  * @param kafka
  *   wraps the enumerator of a Kafka leg
  * @param files
  *   wraps the enumerator of an archive
  * @param hybrid
  *   wraps the enumerator of the whole chain
  * @param metadata
  *   wraps the metadata of a cluster
  * @param checksFiles
  *   true if a file is compared with its listing when it is opened
  * @param relistsFiles
  *   true if every run lists the files again and ignores the stored list
  * @param seeks
  *   true if a reader seeks to the start of a range
  * @param paced
  *   wraps the enumerator of the whole chain, with the clock of the driver
  * @param leg
  *   wraps each leg of the chain; the oracle uses the original policies
  * @param legs
  *   wraps the leg identities of the chain
  * @param changes
  *   changes of the chain at restarts
  * @param shape
  *   shape of all chains; None = random
  * @param sharesConsumers
  *   true if readers of one slot use one consumer at the same time
  * @param rows
  *   wraps the rows of a task; the argument is true for some tasks of queries that accept loss
  */
final case class Faults(
    fits: ChainPlan => Boolean = _ => true,
    sideLog: SideLog => SideLog = identity,
    kafka: (SplitEnumerator[KafkaPosition], ClusterClient, SimulatedCluster) => SplitEnumerator[KafkaPosition] =
      (inner, _, _) => inner,
    files: SplitEnumerator[FilesPosition] => SplitEnumerator[FilesPosition] = identity,
    hybrid: SplitEnumerator[HybridPosition] => SplitEnumerator[HybridPosition] = identity,
    metadata: (ClusterClient, () => Unit) => ClusterClient = (inner, _) => inner,
    checksFiles: Boolean = true,
    relistsFiles: Boolean = false,
    seeks: Boolean = true,
    paced: (SplitEnumerator[HybridPosition], Clock) => SplitEnumerator[HybridPosition] = (inner, _) => inner,
    leg: Leg => Leg = identity,
    legs: Seq[LegIdentity] => Seq[LegIdentity] = identity,
    changes: Seq[ChainEdits.Change] = ChainEdits.Change.all,
    shape: Option[Shape] = None,
    sharesConsumers: Boolean = false,
    rows: (TaskRows, Boolean) => TaskRows = (inner, _) => inner
)

object Faults {
  val none: Faults = Faults()
}
