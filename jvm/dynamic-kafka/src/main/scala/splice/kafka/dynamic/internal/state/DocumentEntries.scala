// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.state

import splice.source.internal.entries.{Json, NumberedEntries, VersionedEntry}
import splice.source.runtime.SideLog

/** The greatest generation of the documents that caused no change, so that no later run applies an older document.
  *
  * Only the last entry is needed. A service that increases the generation at each poll therefore does not enlarge the
  * side log.
  */
final private[dynamic] class DocumentEntries(log: SideLog) {

  private val entries = new NumberedEntries(log, "document")(_.long("generation"))

  // Another driver may remove an entry after this driver has listed it.
  private var last = entries.numbers.toSeq.flatMap(entries.find).maxOption

  /** Returns the greatest stored generation; None if no entry exists. */
  def greatest: Option[Long] = last

  /** Stores a generation, unless a stored generation is not lower. The generation is durable when this method returns.
    */
  def store(generation: Long): Unit = if (last.forall(_ < generation)) {
    val number = entries.create(VersionedEntry.write("generation" -> Json.number(generation)))
    last = Some(generation)
    entries.purge(entries.numbers.rangeUntil(number))
  }
}
