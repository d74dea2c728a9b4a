// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source

import java.time.Clock

import scala.collection.immutable.SortedMap

import splice.source.runtime.{Jobs, SessionSettings, SideLog}

/** The surroundings of an enumerator in one run of one query.
  *
  * @param sideLog
  *   the enumerator's durable decisions
  * @param mode
  *   whether the run is a stream or one bounded read
  * @param clock
  *   the time of day, to compare with times of records and files. The system may set it forward or back at any moment
  * @param cores
  *   cores known when the run began; a first decision that depends on it must be stored
  * @param run
  *   names this run of the query, and the part of its source that the enumerator serves; readers are reused within one run only
  * @param batchesToRetain
  *   the number of committed batches whose offsets Spark keeps, and whose entries the side log keeps
  * @param session
  *   the settings by which readers evaluate expressions. The coordinator replaces them with those of the checkpoint's first start
  * @param jobs
  *   runs work on executors
  * @param start
  *   the start that is stored; None before the first start of the query or of the leg
  * @param durations
  *   the clock for timeouts, intervals and ages, which only moves forward. None = `clock`, for simulated clocks
  */
final case class EnumeratorContext(
    sideLog: SideLog,
    mode: ReadMode,
    clock: Clock,
    cores: Int,
    run: String,
    batchesToRetain: Int = 100,
    session: SessionSettings = SessionSettings.current,
    jobs: Jobs = Jobs.InThread,
    start: Option[StoredStart] = None,
    durations: Option[Clock] = None
) {

  /** The clock for timeouts, intervals and ages. */
  def steady: Clock = durations.getOrElse(clock)

  /** The context of a part, such as a leg, with a side log and readers of its own.
    *
    * @param start
    *   the start of that part, if it is stored
    */
  def scope(name: String, start: Option[StoredStart] = None): EnumeratorContext =
    copy(sideLog = sideLog.scope(name), run = s"$run-$name", start = start)
}

/** The result of [[SplitEnumerator.start]] as the coordinator or the hybrid has stored it, with all that the source reads depends on.
  *
  * Several runs may have computed a start before one of them stored its own. An enumerator uses no entry that belongs to another start.
  *
  * @param read
  *   the JSON of the position
  * @param fill
  *   the partitions that begin with offsets that a history lacks ([[StartPosition.Offsets]])
  */
final class StoredStart(read: => String, val fill: SortedMap[LogPartition, OffsetRanges]) {

  /** Read when it is first used, so a start that nothing needs may be damaged. */
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

sealed trait ReadMode extends Product with Serializable

object ReadMode {
  case object Batch  extends ReadMode
  case object Stream extends ReadMode
}
