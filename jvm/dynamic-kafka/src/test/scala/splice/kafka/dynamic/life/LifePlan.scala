// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.life

import java.time.Duration

import splice.testkit.simulation.Chance

/** The options and circumstances of one life.
  *
  * @param isTimed
  *   whether a time ends some batches, unless progress is tracked asynchronously
  * @param covers
  *   whether lives have the situations of a defect
  */
final private[life] class LifePlan(chance: Chance, isTimed: Boolean, covers: String => Boolean) {

  private def oneIn(n: Int, defect: String): Boolean = {
    val drawn = chance.oneIn(n)
    drawn && covers(defect)
  }

  /** Whether requests may wait, so that batches go without their clusters. */
  val hangs: Boolean = chance.oneIn(5)

  /** Whether unread records of removed topics are dropped. */
  val drops: Boolean = chance.oneIn(6)

  /** Whether new topics of a stream wait until its removed topics are drained. */
  val ordered: Boolean = chance.oneIn(3)

  /** Whether the query fails if a cluster is unavailable for `clusterTimeout`. */
  val fails: Boolean = oneIn(8, "A17")

  /** Whether topics may be deleted, recreated and truncated. */
  val loses: Boolean = chance.oneIn(4)

  val asynchronous: Boolean = chance.oneIn(4)

  /** Whether some runs are in real-time mode. */
  val timed: Boolean = isTimed && !asynchronous

  /** Whether a stream has copies on two clusters, between which it moves at a time or at offsets. */
  val mirrors: Boolean = !drops && chance.oneIn(4)

  /** Whether the time of day is set forward and back. */
  val steps: Boolean = chance.oneIn(4)

  /** Whether clusters get other names. */
  val renames: Boolean = !mirrors && oneIn(6, "A13")

  /** Whether an outage of one cluster is observed for its effects on the others. */
  val isolates: Boolean = chance.oneIn(3) || fails || steps

  /** Whether documents that remove many topics are rejected. An outage is observed by documents that must be applied. */
  val guards: Boolean = oneIn(8, "A24") && !isolates

  /** Whether records of removed topics are required to leave the checkpoint after the retention. */
  val forgets: Boolean = oneIn(5, "A21")

  private val limit = if (chance.oneIn(2)) Some(chance.between(2, 12)) else None
  private val equal = chance.oneIn(3)

  /** Whether a topic is deleted while it is drained. */
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

  override def toString: String =
    options.toSeq.sorted.map { case (k, v) => s"$k=$v" }.mkString(", ") + Seq(
      "asynchronous" -> asynchronous,
      "hangs"        -> hangs,
      "mirrors"      -> mirrors,
      "steps"        -> steps,
      "renames"      -> renames,
      "timed"        -> timed
    ).filter(_._2).map(_._1).mkString(", ", ", ", "")
}

private[life] object LifePlan {
  val DrainTimeout: Duration   = Duration.ofMinutes(5)
  val Retention: Duration      = Duration.ofHours(12)
  val ClusterTimeout: Duration = Duration.ofSeconds(60)
}
