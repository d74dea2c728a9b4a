// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source

import java.time.Duration

/** How much one batch may read. None = no such limit; several limits hold together, and a batch always gets at least one row or file.
  *
  * @param minRows
  *   return without progress while fewer rows are there; the coordinator drops it once `maxDelay` has passed
  */
final case class ReadLimits(
    maxRows: Option[Long] = None,
    maxFiles: Option[Int] = None,
    maxBytes: Option[Long] = None,
    minRows: Option[Long] = None,
    maxDelay: Duration = ReadLimits.DefaultMaxDelay
) {
  def withoutMinimum: ReadLimits = copy(minRows = None)
}

object ReadLimits {

  /** Spark's default of `maxTriggerDelay`. */
  val DefaultMaxDelay: Duration = Duration.ofMinutes(15)

  /** All that is available. */
  val All: ReadLimits = ReadLimits()
}
