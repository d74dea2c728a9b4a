// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.simulation.leg

import java.time.Duration

import scala.collection.immutable.SortedMap

import org.apache.spark.sql.types.StructType

import splice.source._
import splice.source.log.{Coverage, LogPartitions, LogRange, Outlook}
import splice.source.runtime.{OpenEnded, Report}
import splice.testkit.simulation.{TaskRows, Violation}

/** Leg of a simulated chain. */
trait SimulatedLeg {

  /** Source of the leg, created again for every run. */
  def source: Source[_ <: Position]

  /** Reads ranges of this leg, as an executor does. */
  def rows(run: String, task: TaskRanges): TaskRows

  /** Discards the state that the driver and its executors lose in a kill. */
  def killed(): Unit

  /** Releases the resources of the leg. */
  def close(): Unit
}

/** Forwards every call. */
class Passing[P <: Position](inner: SplitEnumerator[P]) extends SplitEnumerator[P] with LogPartitions
    with OpenEnded[P] {
  private def timed: OpenEnded[P] = inner match {
    case open: OpenEnded[P @unchecked] => open
    case _ => throw new IllegalStateException(s"$inner does not support ranges without an end")
  }

  override def settle(from: P): P                              = timed.settle(from)
  override def open(settled: P): Seq[SplitRange]               = timed.open(settled)
  override def reached(settled: P, unread: Seq[SplitRange]): P = timed.reached(settled, unread)
  override def isStale: Boolean                                = timed.isStale
  override def staleInterval: Option[Duration]                 = timed.staleInterval
  override def logRanges(history: SortedMap[LogPartition, Long]): SortedMap[LogPartition, LogRange] = inner match {
    case log: LogPartitions => log.logRanges(history)
    case _                  => throw new IllegalStateException(s"$inner has no ranges of a log")
  }

  override def start(at: StartPosition): P                                               = inner.start(at)
  override def limits(at: P): Limits.Limited                                             = inner.limits(at)
  override def advance(from: P, limits: Limits): P                                       = inner.advance(from, limits)
  override def replay(from: P, until: P): Unit                                           = inner.replay(from, until)
  override def splits(from: P, until: P): Seq[SplitRange]                                = inner.splits(from, until)
  override private[splice] def begun(ranges: Seq[SplitRange]): Unit                      = inner.begun(ranges)
  override def readers(columns: StructType, ranges: Seq[SplitRange]): SplitReaderFactory =
    inner.readers(columns, ranges)
  override def evidence(at: P): Option[Evidence]                    = inner.evidence(at)
  override def remaining(at: P, covered: Coverage): Seq[SplitRange] = inner.remaining(at, covered)
  override def outlook(): Outlook                                   = inner.outlook()
  override def freeze(): Unit                                       = inner.freeze()
  override def reported(reports: Seq[Report]): Unit                 = inner.reported(reports)
  override def committed(until: P): Unit                            = inner.committed(until)
  override def commitEnd(at: P): Boolean                            = inner.commitEnd(at)
  override def retain(oldest: P): Unit                              = inner.retain(oldest)
  override def stopped(last: => Option[P]): Unit                    = inner.stopped(last)
  override def cost(range: SplitRange): Long                        = inner.cost(range)
  override def isMember(at: P): String => Boolean                   = inner.isMember(at)
  override def figures(at: P): SortedMap[String, String]            = inner.figures(at)
  override def gauges(at: P): Iterable[(String, Long)]              = inner.gauges(at)
  override def close(): Unit                                        = inner.close()
}

/** Checks that a closed enumerator receives no commit. */
final class CloseWatch[P <: Position](inner: SplitEnumerator[P]) extends Passing[P](inner) {
  private var isClosed = false

  override def committed(until: P): Unit = {
    if (isClosed) throw new Violation(s"a closed enumerator receives the commit of $until")
    inner.committed(until)
  }

  override def close(): Unit = {
    isClosed = true
    inner.close()
  }
}

/** Checks that a leg receives only positions that Spark has committed.
  *
  * @param durable
  *   position of the leg in the last committed batch
  * @param published
  *   receives each position that is committed to the leg
  */
final class CommitWatch[P <: Position](
    inner: SplitEnumerator[P],
    leg: String,
    durable: () => Option[Position],
    published: String => Unit = _ => ()
) extends Passing[P](inner) {
  override def committed(until: P): Unit = {
    check(until)
    inner.committed(until)
    published(until.json)
  }

  override def commitEnd(at: P): Boolean = {
    check(at)
    val isDone = inner.commitEnd(at)
    published(at.json)
    isDone
  }

  private def check(until: P): Unit = if (!durable().exists(until.precedes))
    throw new Violation(s"leg $leg receives the commit of $until, but ${durable()} is committed")

  override def stopped(last: => Option[P]): Unit = {
    last.foreach { until =>
      if (!durable().exists(until.precedes))
        throw new Violation(s"leg $leg stops with the commit of $until, but ${durable()} is committed")
    }
    inner.stopped(last)
    last.foreach(until => published(until.json))
  }
}
