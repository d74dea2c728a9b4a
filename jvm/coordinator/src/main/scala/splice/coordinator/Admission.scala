// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.coordinator

import java.time.{Clock, Instant}

import splice.source.Limits

/** Lets a batch wait for `minRows`, but no longer than `maxDelay` since the last one. The first batch of a run never waits. */
final private[splice] class Admission(clock: Clock) {

  private var lastBatch: Option[Instant] = None

  /** The limits for a batch that may begin now. */
  def limits(own: Limits.Limited): Limits.Limited =
    if (lastBatch.forall(last => !clock.instant().isBefore(last.plus(own.maxDelay)))) own.withoutMinimum else own

  /** A batch has begun. */
  def began(): Unit = lastBatch = Some(clock.instant())
}
