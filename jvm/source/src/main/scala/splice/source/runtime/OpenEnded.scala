// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source.runtime

import java.time.Duration

import splice.source.internal.legs.{LegIdentity, SkippingLeg}
import splice.source.{Position, SplitEnumerator, SplitRange}

/** Enumerator whose splits can be read without an end, for Spark's real-time mode and continuous mode. Tasks read until
  * the time of their batch or epoch is over. The batch or epoch ends at the positions that the tasks have reached.
  *
  * The query's thread calls all methods except [[isStale]] sequentially, together with the methods of
  * [[SplitEnumerator]]. In continuous mode, another thread calls [[open]], [[reached]] and
  * [[SplitEnumerator.committed]] while the query's thread waits. These calls are also sequential.
  */
trait OpenEnded[P <: Position] { this: SplitEnumerator[P] =>

  /** First leg that has not ended and that is not [[OpenEnded]], or None if every remaining leg is supported. Called
    * once, before the first batch. The method must not send requests.
    */
  private[splice] def unsupportedLeg: Option[LegIdentity] = None

  /** First leg that has not ended, that a hand-over counts, and that may skip other rows in a second read; or None.
    * Continuous mode reads such a leg twice, because its tasks send no counts. The method must not send requests.
    */
  private[splice] def skippingLeg: Option[SkippingLeg] = None

  /** Returns the start of the next batch, computed from the end of the previous batch. The method adds new splits and
    * skips records that a policy drops. The method may send requests, but no request for the end of a split. When the
    * method returns, the start of every added split is durable.
    */
  def settle(from: P): P

  /** Returns the ranges to read from a settled position. A range has no end ([[SplitRange.isOpen]]), or ends where the
    * source ends. No range is empty. A split may have a range with an end, followed by an open range. The reader of the
    * split reads these ranges in this order. Sends no request.
    */
  def open(settled: P): Seq[SplitRange]

  /** Returns the end of a batch.
    *
    * @param settled
    *   start of the batch
    * @param unread
    *   parts of the ranges of [[open]] that tasks have not read. A range with an end that is absent was read to its
    *   end. An open range that is absent was not read
    */
  def reached(settled: P, unread: Seq[SplitRange]): P

  /** True if [[settle]] may change the ranges of the current batch, because [[settle]] may add a split or apply a
    * change of the metadata. Any thread may call this method at any time. Sends no request.
    */
  def isStale: Boolean = false

  /** Interval at which a running task may check whether its batch is stale, or None if the splits of this source never
    * change.
    */
  def staleInterval: Option[Duration] = None
}
