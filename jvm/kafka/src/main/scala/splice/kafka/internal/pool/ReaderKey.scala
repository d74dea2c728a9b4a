// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.pool

import splice.kafka.internal.options.ClientProperties

/** The key of interchangeable readers. Such readers have the same run of a query, client properties and slot. */
final private[splice] case class ReaderKey(run: String, client: ClientProperties, slot: Option[Int]) {

  /** True if the other key differs only in the slot. */
  def isAlike(other: ReaderKey): Boolean = run == other.run && client == other.client
}
