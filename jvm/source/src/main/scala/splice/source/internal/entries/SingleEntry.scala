// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source.internal.entries

import splice.source.errors.CheckpointErrors
import splice.source.runtime.SideLog

/** Side-log entry with a fixed key.
  *
  * @param parse
  *   parses the entry. Called at each access, so a caller with frequent accesses should store the result
  */
final private[splice] class SingleEntry[A](log: SideLog, key: String)(parse: VersionedEntry => A) {

  /** True if the entry exists. Does not parse the entry. */
  def exists: Boolean = log.get(key).nonEmpty

  /** Returns the entry, or None if the entry does not exist. */
  def find: Option[A] = log.get(key).map(read)

  /** @throws SpliceException if the entry does not exist */
  def required: A = find.getOrElse(throw CheckpointErrors.missingEntry(VersionedEntry.name(key)))

  /** Returns the entry. If the entry does not exist, stores `lines`. The entry is durable when this method returns. */
  def getOrCreate(lines: => Seq[String]): A = read(log.getOrCreate(key)(lines))

  /** Stores `lines` if the entry does not exist. Does not parse the entry. */
  def create(lines: => Seq[String]): Unit = {
    val _ = log.getOrCreate(key)(lines)
  }

  private def read(lines: Seq[String]): A = parse(VersionedEntry.read(key, lines))
}
