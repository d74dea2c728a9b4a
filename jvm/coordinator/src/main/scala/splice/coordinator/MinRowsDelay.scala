// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.coordinator

import java.time.{Clock, Instant}

import splice.source.Limits

/** Delays a batch until `minRows` rows are available, but at most for `maxDelay` after the start of the last batch. The
  * first batch of a run is never delayed.
  */
final private[splice] class MinRowsDelay(clock: Clock) {

  private var lastBatch: Option[Instant] = None

  /** Returns the limits of a batch that may begin now. */
  def limits(limits: Limits.Limited): Limits.Limited =
    if (lastBatch.forall(last => !clock.instant().isBefore(last.plus(limits.maxDelay)))) limits.withoutMinimum
    else limits

  /** Records the start of a batch. */
  def began(): Unit = lastBatch = Some(clock.instant())
}
