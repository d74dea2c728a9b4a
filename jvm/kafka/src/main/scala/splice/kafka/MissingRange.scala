// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka

import splice.source.LogPartition

/** Offsets of one partition that must be read and are gone: from (included) until (excluded; None = to the end). */
final private[splice] case class MissingRange(partition: LogPartition, from: Long, until: Option[Long]) {
  override def toString: String = s"$partition [$from, ${until.getOrElse("end")})"
}
