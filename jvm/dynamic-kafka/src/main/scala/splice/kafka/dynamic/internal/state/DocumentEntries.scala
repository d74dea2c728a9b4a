// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.state

import splice.source.errors.{CheckpointErrors, SpliceException}
import splice.source.internal.entries.{Json, NumberedEntries, VersionedEntry}
import splice.source.runtime.SideLog

/** The greatest generation of the documents that caused no change, so that no later run applies an older document.
  *
  * Only the last entry is needed. A service that increases the generation at each poll therefore does not enlarge the
  * side log.
  */
final private[dynamic] class DocumentEntries(log: SideLog) {

  private val entries = new NumberedEntries(log, "document")(_.long("generation"))

  private var last = entries.numbers.toSeq.flatMap(found).maxOption

  /** Returns the greatest stored generation; None if no entry exists. */
  def greatest: Option[Long] = last

  /** Stores a generation if all stored generations are lower. The generation is durable when this method returns. */
  def store(generation: Long): Unit = if (last.forall(_ < generation)) {
    // Another driver may have stored a generation since the list of entries was read. The last of these entries has the
    // greatest generation.
    val _ = entries.appendUntil(VersionedEntry.write("generation" -> Json.number(generation))) { (_, stored) =>
      last = (last ++ Some(stored)).maxOption
    }(_ >= generation)
    entries.purge(entries.numbers.rangeUntil(entries.next - 1))
  }

  // Another driver may remove an entry that this driver has listed. The next call of `store` finds the next entry.
  private def found(number: Int): Option[Long] =
    try entries.find(number)
    catch { case e: SpliceException if CheckpointErrors.isMissingEntry(e) => None }
}
