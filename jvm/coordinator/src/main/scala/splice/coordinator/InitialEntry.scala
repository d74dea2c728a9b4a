// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.coordinator

import splice.coordinator.sidelog.SourceFolder
import splice.source.errors.CheckpointErrors
import splice.source.internal.entries.VersionedEntry
import splice.source.log.SharedStart
import splice.source.runtime.SideLog
import splice.source.{Position, SharesCheckpoint, Source, StoredStart}

/** Where a query begins: decided once in the life of its checkpoint, and told to a source that shares the checkpoint.
  *
  * What is shared is written first and goes before our own entry: the first batch, if it is not finished, was planned by whoever
  * wrote it.
  */
final private[splice] class InitialEntry(log: SideLog, source: Source[_ <: Position], folder: Option[SourceFolder]) {

  import InitialEntry.Key

  def resolve(decide: => Position): Position = {
    val shared = (source, folder) match {
      case (own: SharesCheckpoint, Some(place)) => Some(agree(own.sharedStart, place, stored.getOrElse(decide)))
      case _                                    => None
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

  /** Where the query begins, if that is stored. */
  def stored(log: SideLog): Option[StoredStart] = {
    def lines = log.get(Key).getOrElse(throw CheckpointErrors.missingEntry(s"Side-log entry $Key"))
    Option.when(log.keys(Key).contains(Key))(StoredStart(text(lines)))
  }

  private def text(lines: Seq[String]): String = VersionedEntry.read(Key, lines).line
}
