// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source

import scala.collection.immutable.SortedMap

/** The driver's part of a source: finds splits, decides how far each batch goes (FLIP-27's SplitEnumerator).
  *
  * All methods are called from one thread, the query's. Work that may be slow and is not needed at once, such as discovery,
  * runs on a thread of the enumerator's own. A call that waits must end with `InterruptedException` when it is interrupted.
  */
trait SplitEnumerator extends AutoCloseable {

  /** Resolves where to begin into fixed positions. The coordinator or the hybrid writes the result down and asks once. */
  def start(at: StartPosition): Position

  /** The limits that the source's own options set for a batch that begins at `at`. */
  def limits(at: Position): Limits.Limited

  /** How far the batch that begins at `from` goes: `from` itself when there is nothing new, or fewer than `limits.minRows`.
    *
    * Cheap when idle: no listing, one round trip to a server. The start of every range of a split that `from` does not
    * know must be durable (in the result or the side log) when this returns.
    */
  def advance(from: Position, limits: Limits): Position

  /** The ranges between two positions, also of positions that several batches lie between. Pure: depends on its arguments
    * and on what was durable before `until` was first returned; never on the clock, a listing, or what a server says today.
    */
  def splits(from: Position, until: Position): Seq[SplitRange]

  /** What a range of [[splits]] is expected to cost, for balance between slots only: the answer may change from call to call. */
  def cost(range: SplitRange): Long = range.weight

  /** Whether a split may still have something to read after `at`; one that has not drops out of its slot. */
  def isMember(at: Position): String => Boolean = _ => true

  /** What the source ended with, once it is bounded and exhausted at `at`; None while there is more to read. */
  def end(at: Position): Option[EndState]

  /** Takes the ends as they are now for the ends of this run (Spark's AvailableNow). Called at most once, before the rest. */
  def freeze(): Unit

  /** Spark has durably committed all rows up to `until`. Idempotent; comes late, or never. */
  def committed(until: Position): Unit

  /** Figures for the query progress, from what is known already: asks no server. Keys are those of [[ProgressMetric]]. */
  def report(at: Position): SortedMap[String, String]
}
