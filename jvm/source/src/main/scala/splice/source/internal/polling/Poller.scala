// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source.internal.polling

/** Periodic calls of a function. Tests replace the thread of a [[BackgroundPoller]] by their own calls. */
private[splice] trait Poller extends AutoCloseable {

  /** Starts the periodic calls. The constructor does not start these calls, because a leg of a chain may begin much
    * later.
    */
  def begin(): Unit

  def health: PollHealth

  /** Cancels the running call. */
  override def close(): Unit
}
