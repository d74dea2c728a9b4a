// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.tables.internal.table

import java.time.Instant

import splice.source.StartAfterVersion
import splice.source.internal.entries.Json

/** Snapshots of a table of Iceberg from the current snapshot back to the oldest one that the table still has.
  *
  * @param all
  *   snapshots of the table, also those of other branches
  */
final private[table] case class IcebergLine(all: Seq[IcebergLine.Snapshot], current: Long) {

  private val byId = all.map(snapshot => snapshot.id -> snapshot).toMap

  private val line = Iterator.iterate(byId.get(current))(_.flatMap(_.parent).flatMap(byId.get)).takeWhile(_.isDefined)
    .flatten.toSeq.reverse

  /** Start of a stream after a snapshot: before the files of its child, or after the files of the current snapshot. If
    * neither exists, the stream begins with the first snapshot that was committed later.
    *
    * @param added
    *   number of data files that the current snapshot has added
    */
  def after(id: Long, committed: Instant)(added: => Long): StartAfterVersion = {
    val child     = line.find(_.parent.contains(id)).map(before)
    val later     = line.find(_.committed.isAfter(committed)).map(before)
    lazy val last = offset(current, added)
    if (id == current) StartAfterVersion(last, hasGap = false)
    else StartAfterVersion(child.orElse(later).getOrElse(last), hasGap = child.isEmpty)
  }

  private def before(snapshot: IcebergLine.Snapshot): String = offset(snapshot.id, 0)

  /** Offset of Iceberg's stream before a file of a snapshot. */
  private def offset(snapshot: Long, file: Long): String = Json.write(Json.obj(
    "version"        -> Json.number(1),
    "snapshot_id"    -> Json.number(snapshot),
    "position"       -> Json.number(file),
    "scan_all_files" -> Json.bool(false)
  ))
}

private[table] object IcebergLine {

  final case class Snapshot(id: Long, parent: Option[Long], committed: Instant)
}
