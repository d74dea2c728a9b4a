// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.life.oracle

import splice.kafka.dynamic.life.{LifePlan, LifeWorld}
import splice.source.errors.SpliceException
import splice.testkit.simulation.SimulatedTrigger

/** Failures of a query that a scenario explains. All other failures are violations.
  *
  * A failure of the metadata service never ends a query, because the simulated service fails for single requests only.
  */
final private[life] class LifeFailures(world: LifeWorld) {

  import LifeFailures._

  /** Returns the explanation of a failure; None if the scenario does not explain the failure.
    *
    * @param isFaulty
    *   true if a cluster was unavailable at the start of the run or after an event of the run
    */
  def explanation(trigger: SimulatedTrigger, error: SpliceException, isFaulty: Boolean): Option[String] =
    if (!Outages(error.getCondition)) None
    else world.call.collect {
      case "start" if isUnavailable(error)                                   => Start
      case "replay" if isUnavailable(error)                                  => Replay
      case "advance" if isFaulty && trigger == SimulatedTrigger.AvailableNow => End
      // A cluster that is available again does not justify a failure, even after a batch longer than the timeout. A
      // request that failed after the timeout does, although its response may arrive when the cluster is available.
      case "advance" | "settle" if isFaulty && world.plan.fails && (!world.isHealthy || isRefused) => Policy
    }

  private def isRefused: Boolean = world.clusters.values.exists(_.faults.refusal >= LifePlan.ClusterTimeout.toMillis)

  /** True if a cluster of the error is unavailable now. An error without a cluster may be the error of any cluster. */
  private def isUnavailable(error: SpliceException): Boolean =
    error.parameters.get("cluster").fold(!world.isHealthy) { names =>
      names.split(", ").exists(name => world.names.get(name).exists(id => !world.clusters(id).faults.isHealthy))
    }
}

private[life] object LifeFailures {

  private val Outages =
    Set("SPLICE_KAFKA_CONNECTION.CLUSTER_UNAVAILABLE", "SPLICE_KAFKA_CONNECTION.BROKERS_UNAVAILABLE")

  val Start  = "the first start needs an unavailable cluster"
  val Replay = "a logged batch needs an unavailable cluster"
  val End    = "AvailableNow ends without an unavailable cluster"
  val Policy = "an unavailable cluster fails a query with onClusterUnavailable=fail"
}
