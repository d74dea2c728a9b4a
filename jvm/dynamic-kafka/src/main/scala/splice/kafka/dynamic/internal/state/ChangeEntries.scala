// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.state

import splice.kafka.dynamic.KafkaCluster
import splice.source.internal.entries.NumberedEntries
import splice.source.runtime.SideLog

/** The changes of one checkpoint, each durable before an offset depends on it. If the query is killed before it uses a change, the next
  * run applies that change at the same position.
  */
final private[dynamic] class ChangeEntries(log: SideLog) {

  private val entries = new NumberedEntries(log, "change")(AppliedMetadataFormat.read)

  // Each may be of thousands of streams, and older ones are needed only when batches are read again.
  private var recent: Vector[AppliedMetadata] = Vector.empty

  /** All changes that are kept, in their order. */
  def all: Seq[AppliedMetadata] = entries.numbers.toSeq.map(apply)

  /** The last change that was ever made. */
  def last: Option[AppliedMetadata] = entries.numbers.lastOption.map(apply)

  /** @throws splice.source.errors.SpliceException when there is none of this number */
  def apply(number: Int): AppliedMetadata = recalled(number).getOrElse(remember(entries(number)))

  def find(number: Int): Option[AppliedMetadata] = recalled(number).orElse(entries.find(number).map(remember))

  /** The changes after one and up to another, in their order. */
  def between(from: Int, until: Int): Seq[AppliedMetadata] = (from + 1 to until).map(apply)

  /** A cluster as the last change that has it. A change drops the cluster of a batch that is still to be read if it ends the retention
    * of the cluster's last topic.
    */
  def cluster(name: String): Option[KafkaCluster] =
    entries.numbers.toSeq.reverseIterator.flatMap(apply(_).clusters.get(name)).nextOption()

  /** The latest name of a cluster, if changes that are kept renamed it. */
  def renamed(cluster: String): String =
    all.foldLeft(cluster)((name, change) => change.nameOf(name))

  /** The change of this number that is durable: `created`, unless another run created one before. */
  def append(created: AppliedMetadata): AppliedMetadata =
    remember(entries.getOrCreate(created.number)(AppliedMetadataFormat.write(created)))

  /** Removes the changes before one, whose positions are committed. */
  def purge(committed: Int): Unit = entries.purge(entries.numbers.rangeUntil(committed - ChangeEntries.Kept))

  private def recalled(number: Int): Option[AppliedMetadata] = recent.find(_.number == number)

  private def remember(change: AppliedMetadata): AppliedMetadata = {
    recent = (recent :+ change).takeRight(ChangeEntries.Remembered)
    change
  }
}

private[dynamic] object ChangeEntries {

  /** How many changes before the committed one are kept, for the history and for batches that are replayed. */
  private val Kept = 1000

  private val Remembered = 4
}
