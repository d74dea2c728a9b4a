// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.simulation

import splice.source.{EndState, Limits, Position, SlotRanges, Source, SplitEnumerator, SplitRange, StartPosition}
import splice.testkit.simulation.{TaskRows, Violation}

/** One leg of a simulated chain. */
trait SimulatedLeg {

  /** Its source, made anew for every run. */
  def source: Source

  /** Reads ranges of this leg as an executor does. */
  def rows(run: String, task: SlotRanges): TaskRows

  /** The driver was killed, and the executors with it. */
  def killed(): Unit

  /** The leg is not used any more. */
  def close(): Unit
}

/** Passes everything on. */
class Passing(inner: SplitEnumerator) extends SplitEnumerator {
  override def start(at: StartPosition): Position                                         = inner.start(at)
  override def limits(at: Position): Limits.Limited                                       = inner.limits(at)
  override def advance(from: Position, limits: Limits): Position                          = inner.advance(from, limits)
  override def splits(from: Position, until: Position): Seq[SplitRange]                   = inner.splits(from, until)
  override def end(at: Position): Option[EndState]                                        = inner.end(at)
  override def freeze(): Unit                                                             = inner.freeze()
  override def committed(until: Position): Unit                                           = inner.committed(until)
  override def report(at: Position): scala.collection.immutable.SortedMap[String, String] = inner.report(at)
  override def close(): Unit                                                              = inner.close()
}

/** Holds a leg to what Spark has really committed: nobody may be told of more.
  *
  * @param durable
  *   the leg's position in the last batch that is committed
  */
final class CommitWatch(inner: SplitEnumerator, leg: String, durable: () => Option[Position]) extends Passing(inner) {
  override def committed(until: Position): Unit = {
    if (!durable().exists(until.precedes))
      throw new Violation(s"leg $leg is told that $until is committed, and ${durable()} is")
    inner.committed(until)
  }
}
