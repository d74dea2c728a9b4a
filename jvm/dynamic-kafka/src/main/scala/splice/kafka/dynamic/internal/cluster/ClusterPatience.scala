// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.cluster

import java.time.{Clock, Duration, Instant}
import java.util.concurrent.TimeoutException
import java.util.concurrent.{Future => JFuture, TimeUnit}

import scala.collection.immutable.SortedMap

import splice.kafka.dynamic.internal.errors.DynamicErrors
import splice.kafka.internal.cluster.UnavailablePartition

/** Fails a query if clusters that it needs have not responded for `clusterTimeout`. */
final private[splice] class ClusterPatience(workers: ClusterWorkers, timeout: Duration, clock: Clock) {

  import ClusterPatience.Unavailable

  private var waitingSince = SortedMap.empty[String, Instant]
  private var overdue      = Map.empty[String, Instant]

  /** Checks clusters.
    *
    * @param silent
    *   clusters that did not respond to the requests of a batch
    * @param waited
    *   clusters that a change waits for
    * @param partitions
    *   partitions that do not respond, of clusters that respond
    * @throws splice.source.errors.SpliceException
    *   if a cluster, or a partition of a cluster that responds, has been unavailable for the timeout. The error
    *   contains all such clusters, and the clusters that became unavailable later
    */
  def check(silent: Set[String], waited: Set[String], partitions: Seq[(String, UnavailablePartition)]): Unit = {
    val now = clock.instant()
    waitingSince = SortedMap.from(waited.iterator.map(name => name -> waitingSince.getOrElse(name, now)))
    // After a long batch a response may arrive during the check. Therefore a pending request counts only in the second
    // check.
    val before = overdue
    overdue = silent.flatMap(name => workers.find(name).flatMap(_.pending).filter(isOver(_, now)).map(name -> _)).toMap
    val clusters = for {
      name   <- silent.toSeq
      worker <- workers.find(name)
      since  <- worker.health.since
      if worker.health.isOver(timeout) || overdue.get(name).exists(before.get(name).contains)
    } yield Unavailable(name, since, worker.health.error.getOrElse(noResponse))
    val leaderless =
      for ((name, partition) <- partitions if isOver(partition.since, now))
        yield Unavailable(name, partition.since, partition.error)
    val changes =
      for ((name, since) <- waitingSince.toSeq if isOver(since, now)) yield Unavailable(name, since, noResponse)
    val all = (clusters ++ leaderless ++ changes).distinctBy(_.cluster).sortBy(_.cluster)
    all.headOption.foreach { first =>
      // A cluster without a failure is excluded, because its response may belong to an earlier position.
      val later = silent.filter(name => workers.find(name).exists(!_.health.isGood))
      throw DynamicErrors.unavailable(all.map(_.cluster).toSet ++ later, first.since, first.error)
    }
  }

  private def isOver(since: Instant, now: Instant): Boolean = !now.isBefore(since.plus(timeout))

  private def noResponse = new TimeoutException("no response")
}

private object ClusterPatience {
  final private case class Unavailable(cluster: String, since: Instant, error: Throwable)
}

/** Wait of the query's thread for a response of a cluster. A simulation replaces this wait, because the time until a
  * response depends on the load of the machine.
  */
private[dynamic] trait ResponseWait {

  /** Returns the response.
    *
    * @throws java.util.concurrent.TimeoutException
    *   without a response after this number of milliseconds
    * @throws java.util.concurrent.ExecutionException
    *   if the request failed
    */
  def apply[A](cluster: String, response: JFuture[A], millis: Long): A
}

private[dynamic] object ResponseWait {

  object InRealTime extends ResponseWait {
    override def apply[A](cluster: String, response: JFuture[A], millis: Long): A =
      response.get(millis, TimeUnit.MILLISECONDS)
  }
}
