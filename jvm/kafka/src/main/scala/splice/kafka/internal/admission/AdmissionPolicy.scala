// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.admission

/** The policy that shares a batch among partitions if the backlog exceeds the limits of the batch. */
sealed abstract private[splice] class AdmissionPolicy(val word: String) extends Product with Serializable

private[splice] object AdmissionPolicy {

  /** Shares in proportion to the backlogs of partitions, as in Spark's Kafka source. */
  case object Lag extends AdmissionPolicy("lag")

  /** The same number of rows for every partition. Partitions with a larger backlog get the rows that other partitions
    * do not need.
    */
  case object Equal extends AdmissionPolicy("equal")

  val all: Seq[AdmissionPolicy] = Seq(Lag, Equal)
}
