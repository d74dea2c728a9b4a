// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.state

import java.time.Instant

import splice.kafka.internal.split.KafkaPosition

/** Availability of a cluster in this run. */
sealed private[dynamic] trait Availability extends Product with Serializable

private[dynamic] object Availability {

  /** No request has ended. */
  case object Unknown extends Availability

  /** The last request succeeded, or the metadata sets the cluster to inactive. An inactive cluster receives no
    * requests.
    */
  case object Available extends Availability

  /** Requests fail, or the cluster does not respond in time.
    *
    * @param since
    *   time of the first failure
    * @param responded
    *   true if an earlier request of this run succeeded
    * @param sent
    *   send times of the last failed requests, at most [[Requests]]
    * @param ends
    *   the last ends of partitions that the cluster returned in this run
    */
  final case class Unavailable(
      since: Instant,
      responded: Boolean,
      sent: Seq[Instant],
      ends: KafkaPosition = KafkaPosition.Empty
  ) extends Availability {

    /** Returns true if enough consecutive requests failed that were sent at or after this time. */
    def isConfirmed(from: Instant = Instant.MIN): Boolean = sent.size >= Requests && sent.forall(!_.isBefore(from))
  }

  /** Number of failed requests that confirm an outage. One failed request may be due to a short outage, for example
    * while a suspended machine resumes.
    */
  val Requests = 3
}
