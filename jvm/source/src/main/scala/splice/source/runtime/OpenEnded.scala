// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source.runtime

import java.time.Duration

import splice.source.internal.legs.LegIdentity
import splice.source.{Position, SplitEnumerator, SplitRange}

/** An enumerator whose splits can be read without an end, for Spark's real-time mode and continuous mode: tasks read until the time of their
  * batch or epoch is over, and its end is what they have read by then.
  *
  * The query's thread calls all methods but [[isStale]], one after another, with those of [[SplitEnumerator]]. In continuous mode, another
  * thread calls [[open]], [[reached]] and [[SplitEnumerator.committed]] while the query's thread waits. These calls follow one another too.
  */
trait OpenEnded[P <: Position] { this: SplitEnumerator[P] =>

  /** The first leg that has not ended and that is not [[OpenEnded]]. Asked once, before the first batch; it may not send requests. */
  private[splice] def unsupportedLeg: Option[LegIdentity] = None

  /** Computes the start of the next batch from the end of the last one: adds new splits, and moves past records that a policy skips. It may
    * send requests, but none for the ends of splits. The start of every split that it adds is durable when this returns.
    */
  def settle(from: P): P

  /** The ranges that are read from a settled position: without an end ([[SplitRange.isOpen]]), or with the end that the source has. No range
    * is empty. A split may have a range with an end, and then an open one, which its reader reads in this order. It sends no request.
    */
  def open(settled: P): Seq[SplitRange]

  /** The end of a batch.
    *
    * @param settled
    *   the start of the batch
    * @param unread
    *   what tasks have not read of the ranges of [[open]]. A range with an end that is absent was read to its end. An open range that is
    *   absent was not read
    */
  def reached(settled: P, unread: Seq[SplitRange]): P

  /** Whether [[settle]] would change the ranges of the batch that is read now: it would add a split, or apply a change of the metadata. Any
    * thread may call it at any time. It sends no request.
    */
  def isStale: Boolean = false

  /** How often a running task may check whether its batch is stale; None if the splits of this source never change. */
  def staleInterval: Option[Duration] = None
}
