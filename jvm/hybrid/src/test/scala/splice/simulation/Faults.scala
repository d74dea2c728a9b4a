// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.simulation

import splice.files.enumerator.FilesPosition
import splice.hybrid.HybridPosition
import splice.kafka.enumerator.LogMetadata
import splice.kafka.split.KafkaPosition
import splice.source.{SideLog, SplitEnumerator}
import splice.testkit.simulation.SimulatedCluster

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
    seeks: Boolean = true
)

object Faults {
  val none: Faults = Faults()
}
