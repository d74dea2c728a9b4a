// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source.internal.checks

import splice.source.errors.SpliceException
import splice.source.internal.legs.LegIdentity
import splice.source.runtime.SideLog
import splice.source.{LogPartition, Position, SourceProvider}

/** Connector that can check the positions and the side log of its sources in a checkpoint. A check needs no options of
  * the query, and writes no data.
  */
private[splice] trait ChecksCheckpoint {

  /** Kind of the sources, as in the option `source`. */
  def kind: String

  /** True if the text is a position of a source of this kind. */
  private[splice] def isPosition(json: String): Boolean

  /** Returns the findings about one source of this kind. */
  private[splice] def check(stored: StoredSource): Seq[CheckpointFinding]

  /** Returns the partitions of a leg that begins with offsets that its history lacks, with the offset after the history.
    */
  private[splice] def filled(log: SideLog, leg: String): Map[LogPartition, Long] = Map.empty
}

private[splice] object ChecksCheckpoint {

  /** All connectors of the class path that can check a checkpoint. */
  def all: Seq[ChecksCheckpoint] = SourceProvider.all.collect { case checks: ChecksCheckpoint => checks }

  /** Returns the connector for sources of a kind. */
  def of(kind: String): Option[ChecksCheckpoint] = all.find(_.kind == kind)
}

/** Offset with the file of the checkpoint that contains it. */
final private[splice] case class StoredOffset(file: String, json: String)

/** Content of a checkpoint for one source or one leg.
  *
  * @param folder
  *   folder of the side log, relative to the checkpoint
  * @param log
  *   the side log of the source, which a check only reads
  * @param chain
  *   the legs of the checkpoint in their order
  * @param offsets
  *   the first position and the ends of the batches, in order. Batches that Spark has removed are missing
  * @param next
  *   the start of the next batch, or of a batch without a commit. None if the source has ended, or if no batch was
  *   planned
  * @param kafka
  *   properties of Kafka clients, without the prefix `kafka.`. A check sends no request if the map is empty
  */
final private[splice] case class StoredSource(
    folder: String,
    log: SideLog,
    chain: Seq[LegIdentity],
    offsets: Seq[StoredOffset],
    next: Option[StoredOffset],
    kafka: Map[String, String]
) {

  /** Path of an entry, relative to the checkpoint. */
  def file(entry: String): String = s"$folder/$entry"

  /** Parses the offsets. Returns the valid positions, and one finding per invalid offset.
    *
    * @param parse
    *   throws a [[SpliceException]] for an invalid text
    */
  def positions[P <: Position](parse: String => P): (Seq[(StoredOffset, P)], Seq[CheckpointFinding]) = {
    val (failed, valid) = offsets.partitionMap { offset =>
      try Right(offset -> parse(offset.json))
      catch { case e: SpliceException => Left(CheckpointFinding.of(offset.file, e)) }
    }
    (valid, failed)
  }
}

private[splice] object StoredSource {

  /** Returns one finding per position that is before the previous position. */
  def order(positions: Seq[(StoredOffset, Position)]): Seq[CheckpointFinding] =
    positions.zip(positions.drop(1)).collect {
      case ((before, from), (after, until)) if !from.precedes(until) =>
        CheckpointFinding(
          after.file,
          s"The position ${after.json} is before the position ${before.json} of ${before.file}.",
          "Rows after the earlier position are read again. If no one has changed the position on purpose, restore both files from a copy."
        )
    }
}
