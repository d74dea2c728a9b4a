// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.state

import splice.kafka.dynamic.KafkaCluster
import splice.source.internal.entries.NumberedEntries
import splice.source.runtime.{HistoryEvent, SideLog}

/** Changes of one checkpoint. Each change is durable before an offset depends on the change. If the query is killed
  * before the query uses a change, the next run applies the change at the same position.
  */
final private[dynamic] class ChangeEntries(log: SideLog) {

  private val entries = new NumberedEntries(log, "change")(AppliedMetadataFormat.read)

  // A change may contain thousands of streams. Older changes are needed only if batches are read again.
  private var recent: Vector[AppliedMetadata] = Vector.empty

  /** Returns all stored changes in order. */
  def all: Seq[AppliedMetadata] = entries.numbers.toSeq.map(apply)

  /** Returns the last change. */
  def last: Option[AppliedMetadata] = entries.numbers.lastOption.map(apply)

  /** Returns a change.
    *
    * @throws splice.source.errors.SpliceException
    *   if no change has this number
    */
  def apply(number: Int): AppliedMetadata = recalled(number).getOrElse(remember(entries(number)))

  def find(number: Int): Option[AppliedMetadata] = recalled(number).orElse(entries.find(number).map(remember))

  /** Returns the changes after `from` and up to `until`, in order. */
  def between(from: Int, until: Int): Seq[AppliedMetadata] = (from + 1 to until).map(apply)

  /** Returns a cluster from the last change that contains the cluster. A change that ends the retention of the last
    * topic of a cluster drops the cluster, but a batch may still read the cluster.
    */
  def cluster(name: String): Option[KafkaCluster] =
    entries.numbers.toSeq.reverseIterator.flatMap(apply(_).clusters.get(name)).nextOption()

  /** The change of this number that is durable: `created`, unless another run created one before. */
  def append(created: AppliedMetadata): AppliedMetadata =
    remember(entries.getOrCreate(created.number)(AppliedMetadataFormat.write(created)))

  /** Removes old changes. The committed change and a fixed number of previous changes remain. */
  def purge(committed: Int): Unit = entries.purge(entries.numbers.rangeUntil(committed - ChangeEntries.Kept))

  private def recalled(number: Int): Option[AppliedMetadata] = recent.find(_.number == number)

  private def remember(change: AppliedMetadata): AppliedMetadata = {
    recent = (recent :+ change).takeRight(ChangeEntries.Remembered)
    change
  }
}

private[dynamic] object ChangeEntries {

  /** Number of changes before the committed change that are kept, for the history and for batches that are replayed. */
  private val Kept = 1000

  private val Remembered = 4
}

/** Changes of a checkpoint as events. Changes before the oldest stored change are not included. */
private[dynamic] object ChangeHistory {

  def apply(log: SideLog): Seq[HistoryEvent] = {
    val all    = new ChangeEntries(log).all
    val before = all.headOption.filter(_.number == 0).map(_ => AppliedMetadata.Nothing)
    (before.toSeq ++ all).sliding(2).collect { case Seq(was, is) => events(was, is) }.flatten.toSeq
  }

  private def events(was: AppliedMetadata, is: AppliedMetadata): Seq[HistoryEvent] =
    ChangeDescription(was, is).map(text => HistoryEvent(is.number.toLong, is.at, is.generation, text.event, text.names))
}
