// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.change

import java.time.Duration

/** What becomes of topics that are taken out of the metadata.
  *
  * @param onRemoved
  *   how far they are read
  * @param drainTimeout
  *   how long a cluster may be unavailable before its remaining records are abandoned
  * @param retention
  *   for how long positions of what was removed are kept
  * @param maxFraction
  *   what part of all topics one answer may remove
  */
final private[dynamic] case class RemovalRules(
    onRemoved: OnRemoved = OnRemoved.Drain,
    drainTimeout: Duration = Duration.ofHours(1),
    retention: Duration = Duration.ofDays(7),
    maxFraction: Double = 0.5
)

private[dynamic] object RemovalRules {
  val Default: RemovalRules = RemovalRules()
}

sealed abstract private[dynamic] class OnRemoved(val word: String) extends Product with Serializable

private[dynamic] object OnRemoved {

  /** They are read to where they end now. */
  case object Drain extends OnRemoved("drain")

  /** They are not read any further. */
  case object Drop extends OnRemoved("drop")

  /** The query fails. */
  case object Fail extends OnRemoved("fail")

  /** They are read on as if nothing were. */
  case object Keep extends OnRemoved("keep")

  val all: Seq[OnRemoved] = Seq(Drain, Drop, Fail, Keep)
}
