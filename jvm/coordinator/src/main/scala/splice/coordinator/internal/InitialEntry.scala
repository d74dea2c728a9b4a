// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.coordinator.internal

import splice.coordinator.internal.sidelog.SourceFolder
import splice.source.errors.CheckpointErrors
import splice.source.internal.entries.VersionedEntry
import splice.source.log.SharedStart
import splice.source.runtime.SideLog
import splice.source.{Position, SharesCheckpoint, Source, StoredStart}

/** Stores the start position of a query. The first run of a checkpoint decides the position, and later runs read the
  * stored position.
  *
  * A source may share its checkpoint with one of Spark's own sources ([[SharesCheckpoint]]). The file of the shared
  * start is written before Splice's own entry, and overrides this entry. The source that wrote the file has also
  * planned the first batch, which may be uncommitted.
  */
final private[splice] class InitialEntry(log: SideLog, source: Source[_ <: Position], folder: Option[SourceFolder]) {

  import InitialEntry.Key

  def resolve(decide: => Position): Position = {
    val shared = (source, folder) match {
      case (sharing: SharesCheckpoint, Some(place)) => Some(agree(sharing.sharedStart, place, stored.getOrElse(decide)))
      case _                                        => None
    }
    val entry = log.getOrCreate(Key)(VersionedEntry.write(Nil, Seq(shared.getOrElse(decide).json)))
    shared.getOrElse(read(entry))
  }

  private def stored: Option[Position] = log.get(Key).map(read)

  private def read(lines: Seq[String]): Position = source.position(InitialEntry.text(lines))

  private def agree(start: SharedStart, place: SourceFolder, mine: => Position): Position = {
    def theirs = place.read(start.file).map(start.read(place.name(start.file), _))
    theirs.getOrElse {
      val begin = mine
      place.create(start.file, start.write(begin))
      theirs.getOrElse(begin)
    }
  }
}

private[splice] object InitialEntry {

  private val Key = "initial"

  /** Returns the stored start position, or None if no position is stored. The entry is read at its first use. */
  def stored(log: SideLog): Option[StoredStart] = {
    def lines = log.get(Key).getOrElse(throw CheckpointErrors.missingEntry(s"Side-log entry $Key"))
    Option.when(log.keys(Key).contains(Key))(StoredStart(text(lines)))
  }

  private def text(lines: Seq[String]): String = VersionedEntry.read(Key, lines).line
}
