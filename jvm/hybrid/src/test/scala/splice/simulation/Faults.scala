// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.simulation

import java.time.Clock

import splice.files.internal.enumerator.FilesPosition
import splice.hybrid.internal.chain.Leg
import splice.hybrid.internal.split.HybridPosition
import splice.kafka.internal.cluster.LogMetadata
import splice.kafka.internal.split.KafkaPosition
import splice.source.SplitEnumerator
import splice.source.internal.legs.LegIdentity
import splice.source.runtime.SideLog
import splice.testkit.internal.simulation.SimulatedCluster
import splice.testkit.simulation.TaskRows

/** What a planted fault changes; the default changes nothing.
  *
  * @param kafka
  *   around a Kafka leg's enumerator
  * @param files
  *   around an archive's enumerator
  * @param hybrid
  *   around the whole chain's
  * @param metadata
  *   around what the enumerator asks a cluster
  * @param checksFiles
  *   whether a file is held to what was listed when it is opened
  * @param relistsFiles
  *   whether every run lists the files anew and knows nothing of the list before
  * @param seeks
  *   whether a reader goes where a range begins
  * @param paced
  *   around the whole chain's enumerator, with the driver's clock
  * @param leg
  *   around each leg of the chain, whose policies the oracle knows without it
  * @param legs
  *   around what the chain states of its legs
  * @param changes
  *   what restarts change of the chain
  * @param shape
  *   the shape of all chains, if it is not left to chance
  * @param sharesConsumers
  *   whether readers of one slot use one consumer at the same time
  * @param rows
  *   around the rows of a task; with true for some tasks of queries that accept loss
  */
final case class Faults(
    sideLog: SideLog => SideLog = identity,
    kafka: (SplitEnumerator[KafkaPosition], LogMetadata, SimulatedCluster) => SplitEnumerator[KafkaPosition] =
      (inner, _, _) => inner,
    files: SplitEnumerator[FilesPosition] => SplitEnumerator[FilesPosition] = identity,
    hybrid: SplitEnumerator[HybridPosition] => SplitEnumerator[HybridPosition] = identity,
    metadata: (LogMetadata, () => Unit) => LogMetadata = (inner, _) => inner,
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
