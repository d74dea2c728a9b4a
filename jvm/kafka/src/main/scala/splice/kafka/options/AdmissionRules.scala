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

  val all: Seq[AdmissionPolicy] = Seq(Lag, Equal)
}

/** How a batch's limits are shared among partitions.
  *
  * @param weights
  *   how many times the share of another topic a topic gets; 1 where it is not named
  * @param floors
  *   what comes before all shares
  */
final private[splice] case class AdmissionRules(
    policy: AdmissionPolicy = AdmissionPolicy.Lag,
    weights: Map[String, Double] = Map.empty,
    floors: Seq[AdmissionFloor] = Nil
) {
  def weight(topic: String): Double = weights.getOrElse(topic, 1.0)
}

/** What some topics get of each batch at least, if they have as much to read.
  *
  * @param part
  *   of the batch's rows and bytes
  */
final private[splice] case class AdmissionFloor(part: Double, topics: Set[String])
