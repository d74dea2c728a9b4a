// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.life.cluster

import java.util.concurrent.{CancellationException, ExecutionException, Future => JFuture, TimeUnit, TimeoutException}

import scala.annotation.tailrec
import scala.collection.mutable

import splice.kafka.dynamic.internal.cluster.ResponseWait
import splice.testkit.simulation.{Simulation, Violation}

/** Wait of a query for the responses of simulated clusters. A wait ends with the response, or when a fault of the
  * cluster delays the request. The load of the machine therefore does not change the responses for which a batch
  * waits.
  *
  * Only the scenario thread uses this class.
  *
  * @param faults
  *   returns the faults of a cluster by its name in the metadata
  */
final private[life] class LifeWait(faults: String => LifeFaults) extends ResponseWait {

  // The last response of each cluster that the query requested.
  private val last = mutable.Map.empty[String, JFuture[_]]

  override def apply[A](cluster: String, response: JFuture[A], millis: Long): A = {
    last(cluster) = response
    if (millis > 0) await(cluster, response)
    response.get(0, TimeUnit.MILLISECONDS)
  }

  /** Waits until all clusters have responded, except clusters with a fault that delays the request. */
  def settle(): Unit = last.foreach { case (cluster, response) => await(cluster, response) }

  private def await(cluster: String, response: JFuture[_]): Unit = {
    val limit = System.nanoTime() + Simulation.Patience.toNanos

    @tailrec def again(): Unit = if (!response.isDone && !faults(cluster).isDelaying) {
      if (System.nanoTime() > limit) throw new Violation(s"$cluster neither responds nor has a fault that delays it")
      LifeWait.pause(response)
      again()
    }
    again()
  }
}

private object LifeWait {

  /** Waits for a short time, or until the response. */
  private def pause(response: JFuture[_]): Unit =
    try { val _ = response.get(1, TimeUnit.MILLISECONDS) }
    catch { case _: TimeoutException | _: ExecutionException | _: CancellationException => () }
}
