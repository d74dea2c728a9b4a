// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.change

import splice.source.{CheckpointErrors, SideLog}

/** The changes of one checkpoint, each written down before an offset relies on it. A change that was made and not used yet, since
  * the query was killed, is the next one that the same position meets.
  */
final private[dynamic] class ChangeLog(log: SideLog) {

  private val Prefix = "change-"

  // Each may be of thousands of streams, and older ones are asked for only when batches are read again.
  private var recent: Vector[AppliedMetadata] = Vector.empty

  private var newest: Option[Int] = numbers.maxOption

  /** All changes that are kept, in their order. */
  def all: Seq[AppliedMetadata] = numbers.map(apply)

  /** The last change that was ever made. */
  def last: Option[AppliedMetadata] = newest.map(apply)

  /** @throws splice.source.SpliceException when there is none of this number */
  def apply(number: Int): AppliedMetadata = find(number).getOrElse(throw CheckpointErrors.missingEntry(
    s"Side-log entry ${key(number)}"
  ))

  def find(number: Int): Option[AppliedMetadata] = recent.find(_.number == number).orElse {
    log.get(key(number)).map(lines => remember(AppliedMetadataFormat.read(key(number), lines)))
  }

  /** The changes after one and up to another, in their order. */
  def between(from: Int, until: Int): Seq[AppliedMetadata] = (from + 1 to until).map(apply)

  /** The change as it is written down: `made`, unless one of its number was before. */
  def append(made: AppliedMetadata): AppliedMetadata = {
    val lines = log.getOrCreate(key(made.number))(AppliedMetadataFormat.write(made))
    val read  = remember(AppliedMetadataFormat.read(key(made.number), lines))
    newest = Some(math.max(newest.getOrElse(made.number), made.number))
    read
  }

  /** Forgets the changes before one, whose positions are committed. */
  def purge(committed: Int): Unit = {
    numbers.filter(_ < committed - ChangeLog.Kept).foreach(number => log.remove(key(number)))
  }

  private def remember(change: AppliedMetadata): AppliedMetadata = {
    recent = (recent :+ change).takeRight(ChangeLog.Remembered)
    change
  }

  private def numbers: Seq[Int] = log.keys(Prefix).map(_.stripPrefix(Prefix).toInt)

  private def key(number: Int): String = f"$Prefix$number%08d"
}

private[dynamic] object ChangeLog {

  /** How many changes before the committed one are kept, for who asks what happened, and for batches that are replayed. */
  private val Kept = 1000

  private val Remembered = 4
}
