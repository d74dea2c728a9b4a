// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.change

import java.time.Duration

import splice.kafka.internal.options.LogPolicies

/** Policies for topics that the metadata removes.
  *
  * @param onRemoved
  *   policy for the remaining rows
  * @param drainTimeout
  *   how long a cluster may be unavailable before its remaining records are abandoned
  * @param retention
  *   how long positions of removed topics are kept
  * @param maxFraction
  *   the greatest share of all topics that one document may remove; 1 sets no limit
  */
final private[dynamic] case class RemovalRules(
    onRemoved: OnRemoved = OnRemoved.Drain,
    drainTimeout: Duration = Duration.ofHours(1),
    retention: Duration = LogPolicies.Retention,
    maxFraction: Double = 0.5
)

private[dynamic] object RemovalRules {
  val Default: RemovalRules = RemovalRules()
}

sealed abstract private[dynamic] class OnRemoved(val word: String) extends Product with Serializable

private[dynamic] object OnRemoved {

  /** Removed topics are read up to their ends at the removal. */
  case object Drain extends OnRemoved("drain")

  /** The remaining rows of removed topics are not read. */
  case object Drop extends OnRemoved("drop")

  /** The query fails. */
  case object Fail extends OnRemoved("fail")

  val all: Seq[OnRemoved] = Seq(Fail, Drain, Drop)
}
