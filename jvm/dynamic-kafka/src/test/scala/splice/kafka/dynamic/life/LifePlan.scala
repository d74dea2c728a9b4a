// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.life

import java.time.Duration

import splice.testkit.simulation.Chance

/** Options and circumstances of one scenario.
  *
  * @param isTimed
  *   true if some runs are in real-time mode, unless progress is tracked asynchronously
  */
final private[life] class LifePlan private (chance: Chance, isTimed: Boolean) {

  /** True if requests may block, so that batches omit their clusters. */
  val hangs: Boolean = chance.oneIn(5)

  /** True if unread records of removed topics are dropped. */
  val drops: Boolean = chance.oneIn(6)

  /** True if new topics of a stream wait until its removed topics are drained. */
  val ordered: Boolean = chance.oneIn(3)

  /** True if the query fails when a cluster is unavailable for `clusterTimeout`. */
  val fails: Boolean = chance.oneIn(8)

  /** True if topics may be deleted, recreated and truncated. */
  val loses: Boolean = chance.oneIn(4)

  val asynchronous: Boolean = chance.oneIn(4)

  /** True if some runs are in real-time mode. */
  val timed: Boolean = isTimed && !asynchronous

  /** True if a stream has mirrors on two clusters and moves between them at a time or at offsets. */
  val mirrors: Boolean = !drops && chance.oneIn(4)

  /** True if the wall clock is set forward and back. */
  val steps: Boolean = chance.oneIn(4)

  /** True if the effects of an outage of one cluster on the other clusters are checked. */
  val isolates: Boolean = chance.oneIn(3) || fails || steps

  /** True if documents that remove many topics are rejected. Checks of outages need documents that must be applied. */
  val guards: Boolean = chance.oneIn(8) && !isolates

  /** True if entries of removed topics must be removed from the checkpoint after the retention. */
  val forgets: Boolean = chance.oneIn(5)

  private val limit = if (chance.oneIn(2)) Some(chance.between(2, 12)) else None
  private val equal = chance.oneIn(3)

  /** True if a topic is deleted or truncated during its drain. */
  val lossy: Boolean = loses && limit.nonEmpty && !asynchronous && !fails && !steps

  val options: Map[String, String] = Map(
    "onRemoved"            -> (if (drops) "drop" else "drain"),
    "cutover"              -> (if (ordered) "stream" else "together"),
    "drainTimeout"         -> s"${LifePlan.DrainTimeout.toMinutes}m",
    "removedRetention"     -> s"${LifePlan.Retention.toHours}h",
    "maxRemovalFraction"   -> (if (guards) "0.5" else "1"),
    "clusterWait"          -> (if (hangs) "3ms" else "1m"),
    "clusterTimeout"       -> s"${LifePlan.ClusterTimeout.toSeconds}s",
    "onClusterUnavailable" -> (if (fails) "fail" else "wait"),
    "discoveryInterval"    -> (if (chance.oneIn(2)) "10s" else "10m"),
    "failOnDataLoss"       -> (!loses).toString
  ) ++ limit.map("maxOffsetsPerTrigger" -> _.toString) ++
    (if (loses) Map("onTopicRecreated" -> "restart") else Map.empty[String, String]) ++
    (if (equal) Map("admission" -> "equal", "cluster.east.maxOffsetsPerTrigger" -> limit.fold(3L)(_ / 2).toString)
     else Map.empty[String, String])

  /** Names of the switches that are on. */
  def switches: Seq[String] = Seq(
    "hangs"        -> hangs,
    "drops"        -> drops,
    "ordered"      -> ordered,
    "fails"        -> fails,
    "loses"        -> loses,
    "asynchronous" -> asynchronous,
    "timed"        -> timed,
    "mirrors"      -> mirrors,
    "steps"        -> steps,
    "isolates"     -> isolates,
    "guards"       -> guards,
    "forgets"      -> forgets,
    "limited"      -> limit.nonEmpty,
    "equal"        -> equal,
    "lossy"        -> lossy
  ).filter(_._2).map(_._1)

  override def toString: String = (options.toSeq.sorted.map { case (k, v) => s"$k=$v" } ++ switches).mkString(", ")
}

private[life] object LifePlan {

  /** One of this number of seeds has runs in real-time mode. */
  private val TimedOneIn = 3

  /** Plan of the scenario of a seed. */
  def of(seed: Long): LifePlan = of(new Chance(seed), seed)

  /** Plan of the scenario of a seed. The plan has the first choices of the scenario. */
  def of(chance: Chance, seed: Long): LifePlan = new LifePlan(chance, seed % TimedOneIn == 0)

  val DrainTimeout: Duration   = Duration.ofMinutes(5)
  val Retention: Duration      = Duration.ofHours(12)
  val ClusterTimeout: Duration = Duration.ofSeconds(60)
}
