// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.coordinator.internal

import splice.coordinator.internal.sidelog.SourceFolder
import splice.source.internal.entries.{SingleEntry, VersionedEntry}
import splice.source.log.SharedStart
import splice.source.runtime.SideLog
import splice.source.{Position, SharesCheckpoint, Source, StoredStart}

/** Stores the start position of a query. The first run of a checkpoint decides the position, and later runs read the
  * stored position.
  *
  * A source may share its checkpoint with one of Spark's own sources ([[SharesCheckpoint]]). The file of the shared
  * start is written before Splice's own entry, and overrides this entry. The source that wrote the file has also
  * planned the first batch, which may be uncommitted.
  *
  * @param batches
  *   the offsets of the source in Spark's offset log
  */
final private[splice] class InitialEntry(
    log: SideLog,
    source: Source[_ <: Position],
    folder: Option[SourceFolder],
    batches: OffsetLog = OffsetLog.Empty
) {

  private val entry = new SingleEntry(log, InitialEntry.Key)(stored => source.position(stored.line))

  /** Returns the stored start position. If no position is stored, decides and stores the position.
    *
    * @throws SpliceException
    *   if no position is stored and Spark has logged an offset of this source
    */
  def resolve(decide: => Position): Position = {
    def first  = if (isLost) entry.required else decide
    val shared = (source, folder) match {
      case (sharing: SharesCheckpoint, Some(place)) =>
        Some(agree(sharing.sharedStart, place, entry.find.getOrElse(first)))
      case _ => None
    }
    def lines = VersionedEntry.write(Nil, Seq(shared.getOrElse(first).json))
    shared.fold(entry.getOrCreate(lines)) { start =>
      entry.create(lines)
      start
    }
  }

  // A position is durable before the first offset. A source may continue the offsets of another source without the
  // position of that source.
  private def isLost: Boolean = batches.latest().exists { offset =>
    source match {
      case _: SharesCheckpoint => true
      case other               => !other.takesOver(other.position(offset))
    }
  }

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
    val entry = new SingleEntry(log, Key)(_.line)
    Option.when(log.keys(Key).contains(Key))(StoredStart(entry.required))
  }
}
