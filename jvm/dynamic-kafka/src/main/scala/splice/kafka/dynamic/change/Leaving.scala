// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.change

import java.time.Instant

import splice.kafka.dynamic.StreamCutover
import splice.kafka.split.KafkaPosition

/** A topic that was taken out of the metadata and is still read.
  *
  * @param stream
  *   the stream that it was in
  * @param unavailable
  *   start of the outage of its cluster, across restarts
  */
final private[dynamic] case class Leaving(
    stream: String,
    since: Instant,
    plan: LeavingPlan,
    unavailable: Option[Instant] = None
)

/** How far it is read. */
sealed private[dynamic] trait LeavingPlan extends Product with Serializable

private[dynamic] object LeavingPlan {

  /** For ever: the policy is to keep what was removed. */
  case object Keep extends LeavingPlan

  /** To where it ended when it was removed, which the cluster has not said yet. */
  case object Ask extends LeavingPlan

  /** To the first record of a time, or to where it ended then; what that is has not been asked yet. */
  final case class Until(cutover: StreamCutover.At) extends LeavingPlan

  /** To these offsets: where it ended when it was removed, or where its stream goes over. */
  final case class Drain(ends: KafkaPosition) extends LeavingPlan
}

/** A topic that was taken out of the metadata and is not read any more.
  *
  * @param position
  *   where it goes on if it comes back; None once the retention of what was removed is over
  */
final private[dynamic] case class Tombstone(stream: String, since: Instant, position: Option[KafkaPosition])
