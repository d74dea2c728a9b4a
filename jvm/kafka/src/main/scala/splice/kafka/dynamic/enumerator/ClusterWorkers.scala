// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.enumerator

import java.time.{Clock, Duration}

import scala.collection.immutable.{SortedMap, SortedSet}

import splice.kafka.dynamic.KafkaCluster
import splice.kafka.dynamic.change.AppliedMetadata
import splice.kafka.split.KafkaPosition

/** A worker for each cluster that something is read of, made anew only when its own topics or properties change. */
final private[dynamic] class ClusterWorkers(run: String, clock: Clock)(
    make: (KafkaCluster, SortedSet[String]) => ClusterEnumerator
) extends AutoCloseable {

  private var workers: SortedMap[String, ClusterWorkers.Entry] = SortedMap.empty
  private var frozen                                           = false

  /** Workers that are made from now on are those of a run that ends. */
  def freeze(): Unit = frozen = true

  /** Makes sure that there is a worker for each cluster of which topics are read, and no other. */
  def follow(applied: AppliedMetadata): Unit = {
    val wanted = applied.read.flatMap { case (name, topics) => applied.clusters.get(name).map(name -> (_, topics)) }
    (workers -- wanted.keySet).keysIterator.foreach(close)
    wanted.foreach { case (_, (cluster, topics)) => val _ = worker(cluster, topics) }
  }

  /** The worker of a cluster for these topics. */
  def worker(cluster: KafkaCluster, topics: SortedSet[String]): ClusterWorker = {
    val known = workers.get(cluster.name)
    known.filter(e => e.cluster == cluster && e.topics == topics).getOrElse {
      known.foreach(_ => close(cluster.name))
      val made =
        ClusterWorkers.Entry(
          cluster,
          topics,
          new ClusterWorker(cluster.name, run, clock, frozen)(make(cluster, topics))
        )
      workers += cluster.name -> made
      made
    }.worker
  }

  /** The worker of a cluster, whatever topics it is for. */
  def find(cluster: String): Option[ClusterWorker] = workers.get(cluster).map(_.worker)

  def all: SortedMap[String, ClusterWorker] = workers.map { case (name, entry) => name -> entry.worker }

  /** How far clusters can be read, all asked at once. One that does not answer in time is left out; so is one that is known not to,
    * unless `patient`.
    */
  def advance(from: SortedMap[String, KafkaPosition], wait: Duration, patient: Boolean): SortedMap[String, Reach] = {
    from.foreach { case (name, at) => find(name).foreach(_.ask(at)) }
    val deadline = clock.instant().plus(wait)
    from.flatMap { case (name, at) => find(name).flatMap(_.answer(at, deadline, patient)).map(name -> _) }
  }

  override def close(): Unit = {
    workers.values.foreach(_.worker.end())
    workers.keysIterator.foreach(close)
  }

  private def close(name: String): Unit = {
    workers.get(name).foreach(_.worker.close())
    workers -= name
  }
}

private[dynamic] object ClusterWorkers {
  final private case class Entry(cluster: KafkaCluster, topics: SortedSet[String], worker: ClusterWorker)
}
