// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.options

/** Whose backlog goes first when more is there than a batch may read. */
sealed abstract private[splice] class AdmissionPolicy(val word: String) extends Product with Serializable

private[splice] object AdmissionPolicy {

  /** By how far each partition is behind, as Spark's own source does it. */
  case object Lag extends AdmissionPolicy("lag")

  /** As many rows of every partition; what one does not have goes to the others. */
  case object Equal extends AdmissionPolicy("equal")

  /** Every partition up to the same time. */
  case object OldestFirst extends AdmissionPolicy("oldest-first")

  val all: Seq[AdmissionPolicy] = Seq(Lag, Equal, OldestFirst)
}

/** How a batch's limits are shared among partitions.
  *
  * @param weights
  *   how many times the share of another topic a topic gets; 1 where it is not named
  */
final private[splice] case class AdmissionRules(
    policy: AdmissionPolicy = AdmissionPolicy.Lag,
    weights: Map[String, Double] = Map.empty
) {
  def weight(topic: String): Double = weights.getOrElse(topic, 1.0)
}
