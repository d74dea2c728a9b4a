// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.testkit.internal.memory

import splice.source.errors.SpliceException
import splice.source.internal.ErrorConditions

private[splice] object MemoryErrors {

  private val conditions = new ErrorConditions("splice/testkit/error-conditions.json")

  def missing(log: String): SpliceException = conditions.error("SPLICE_MEMORY.LOG_NOT_FOUND", "log" -> log)

  def gap(partition: String, expected: Long, earliest: Long): SpliceException =
    conditions.error(
      "SPLICE_MEMORY.GAP",
      "partition" -> partition,
      "expected"  -> expected.toString,
      "earliest"  -> earliest.toString
    )
}
