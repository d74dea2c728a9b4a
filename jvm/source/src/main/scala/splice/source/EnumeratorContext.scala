// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source

import java.time.Clock

import scala.collection.immutable.SortedMap

import org.apache.spark.sql.types.StructType

import splice.source.runtime.{Jobs, ReportListeners, SessionSettings, SideLog}

/** Context of an enumerator in one run of one query.
  *
  * @param sideLog
  *   persisted decisions of the enumerator
  * @param mode
  *   mode of the run: streaming query or one bounded read
  * @param clock
  *   wall clock, for comparison with times of records and files. The operating system may set this clock forward or
  *   back
  * @param cores
  *   number of cores at the start of the run. An enumerator must persist a decision that depends on this number
  * @param run
  *   name of this run of the query, and of the part of the source that the enumerator reads. Readers are reused only
  *   within one run
  * @param session
  *   settings that readers use to evaluate expressions. The coordinator replaces these settings with the settings of
  *   the first start of the checkpoint
  * @param jobs
  *   runs tasks of the enumerator on executors. By default, tasks run in the thread of the caller
  * @param start
  *   persisted start, or None before the first start of the query or of the leg
  * @param durations
  *   clock for timeouts, intervals and ages. This clock never moves back. With None, `clock` is used, for simulated clocks
  * @param columns
  *   columns of the rows that the query reads, or None if no query reads rows, for example for a plan
  * @param listeners
  *   receive reports of tasks before Spark commits their batch
  */
final case class EnumeratorContext(
    sideLog: SideLog,
    mode: ReadMode,
    clock: Clock,
    cores: Int,
    run: String,
    session: SessionSettings = SessionSettings.current,
    jobs: Jobs = Jobs.InThread,
    start: Option[StoredStart] = None,
    durations: Option[Clock] = None,
    columns: Option[StructType] = None,
    listeners: ReportListeners = new ReportListeners
) {

  /** Returns the clock for timeouts, intervals and ages. */
  def steady: Clock = durations.getOrElse(clock)

  /** Returns the context of a part of the source, such as a leg. The part has a separate side log, and shares no
    * readers with other parts. The columns of a part are not known.
    *
    * @param start
    *   persisted start of the part; None if no start is persisted
    */
  def scope(name: String, start: Option[StoredStart] = None): EnumeratorContext =
    copy(sideLog = sideLog.scope(name), run = s"$run-$name", start = start, columns = None)
}

/** Persisted result of [[SplitEnumerator.start]], with the ranges that fill holes of the history.
  *
  * The coordinator or the hybrid stores a start once. If several runs compute a start, only the stored start is valid.
  * An enumerator must not use a side-log entry that belongs to another start.
  *
  * @param read
  *   JSON of the start position
  * @param fill
  *   partitions that begin with offsets that are missing from the history ([[StartPosition.Offsets]])
  */
final class StoredStart(read: => String, val fill: SortedMap[LogPartition, OffsetRanges]) {

  /** JSON of the start position. The first access reads the JSON, so a damaged start fails only if a caller needs the
    * position.
    */
  lazy val position: String = read

  override def equals(other: Any): Boolean = other match {
    case that: StoredStart => position == that.position && fill == that.fill
    case _                 => false
  }

  override def hashCode: Int = position.hashCode

  override def toString: String = s"$position $fill"
}

object StoredStart {
  def apply(position: => String, fill: SortedMap[LogPartition, OffsetRanges] = SortedMap.empty): StoredStart =
    new StoredStart(position, fill)
}

/** Mode of a run: one bounded read (`Batch`) or a streaming query (`Stream`). */
sealed trait ReadMode extends Product with Serializable

object ReadMode {
  case object Batch  extends ReadMode
  case object Stream extends ReadMode
}
