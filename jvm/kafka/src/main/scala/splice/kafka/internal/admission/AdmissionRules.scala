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

/** The rules that share the limits of a batch among partitions.
  *
  * @param weights
  *   the factor of a topic's share; 1 for topics that are not named
  * @param floors
  *   the parts of a batch that are assigned before all shares
  */
final private[splice] case class AdmissionRules(
    policy: AdmissionPolicy = AdmissionPolicy.Lag,
    weights: Map[String, Double] = Map.empty,
    floors: Seq[AdmissionFloor] = Nil
) {
  def weight(topic: String): Double = weights.getOrElse(topic, 1.0)
}

/** The least part of each batch for some topics, limited by their backlog.
  *
  * @param part
  *   part of the batch's rows and bytes
  */
final private[splice] case class AdmissionFloor(part: Double, topics: Set[String])
