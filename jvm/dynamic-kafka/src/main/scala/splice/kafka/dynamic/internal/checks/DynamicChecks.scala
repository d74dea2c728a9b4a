// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.checks

import scala.util.Try

import splice.kafka.dynamic.internal.split.{DynamicOffset, DynamicPosition, PositionFormat, StoredPosition}
import splice.kafka.dynamic.internal.state.ChangeEntries
import splice.source.internal.checks.{CheckpointFinding, StoredOffset, StoredSource}
import splice.source.internal.entries.{Json, NumberedEntries, VersionedJson}

/** Checks the positions of a source of many clusters in a checkpoint, and the entries to which the positions refer. A
  * check sends no request, because a checkpoint does not have the addresses of its clusters.
  */
private[splice] object DynamicChecks {

  /** True for a position with names of clusters. A position without these names is a position of one cluster. */
  def isPosition(json: String): Boolean =
    Json.readObject(json).exists(VersionedJson.isVersioned) && Try(DynamicPosition.read(json)).isSuccess

  def apply(stored: StoredSource): Seq[CheckpointFinding] = {
    val (positions, damaged) = stored.positions(DynamicPosition.read)
    val changes              = new ChangeEntries(stored.log)
    val texts                = new NumberedEntries(stored.log, StoredPosition.Prefix)(PositionFormat.read)
    damaged ++ StoredSource.order(positions) ++ positions.flatMap { case (at, position) =>
      CheckpointFinding.caught(at.file)(entries(stored, at, position, changes, texts))
    }
  }

  private def entries(
      stored: StoredSource,
      at: StoredOffset,
      offset: DynamicOffset,
      changes: ChangeEntries,
      texts: NumberedEntries[DynamicPosition]
  ): Seq[CheckpointFinding] = {
    def missing(file: String) =
      CheckpointFinding.missing(stored.file(file), s"The position of ${at.file} refers to the entry.")
    def ofChange(number: Int) =
      Option.when(changes.find(number).isEmpty)(missing(NumberedEntries.key("change", number))).toSeq
    offset match {
      case StoredPosition(number, change) =>
        Option.when(texts.find(number).isEmpty)(missing(StoredPosition.key(number))).toSeq ++ ofChange(change)
      case whole: DynamicPosition if whole.unnamed.isEmpty => ofChange(whole.change)
      case _                                               => Nil
    }
  }
}
