// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.enumerator

import java.time.{Clock, Duration}

import scala.collection.immutable.{SortedMap, SortedSet}

import splice.kafka.dynamic.KafkaCluster
import splice.kafka.dynamic.change.AppliedMetadata
import splice.kafka.dynamic.split.DynamicPosition
import splice.kafka.enumerator.ClusterEnumerator
import splice.kafka.split.KafkaPosition

/** A worker for each cluster that something is read of, made anew only when its own topics or properties change.
  *
  * @param make
  *   what makes the enumerator of some topics of a cluster, on the worker's thread
  */
final private[dynamic] class ClusterWorkers(run: String, clock: Clock)(
    make: (KafkaCluster, SortedSet[String]) => () => ClusterEnumerator
) extends AutoCloseable {

  private var workers: SortedMap[String, ClusterWorkers.Entry] = SortedMap.empty
  private var frozen                                           = false

  /** The run ends with what there is, also on clusters that it meets later. */
  def freeze(): Unit = {
    frozen = true
    workers.valuesIterator.foreach(_.worker.freeze())
  }

  /** Takes clusters as they are reached now, for questions that are asked again. */
  def renew(clusters: SortedMap[String, KafkaCluster]): Unit = workers = workers.map { case (name, entry) =>
    val cluster = clusters.getOrElse(name, entry.cluster)
    if (cluster != entry.cluster) {
      val enumerator = make(cluster, entry.topics)
      entry.worker.renew(enumerator())
    }
    name -> entry.copy(cluster = cluster)
  }

  /** A cluster that has a worker, with the properties by which it is reached. */
  def cluster(name: String): Option[KafkaCluster] = workers.get(name).map(_.cluster)

  /** Makes sure that there is a worker for each cluster of which topics are read, and no other.
    *
    * @param at
    *   the position up to which all rows were read
    */
  def follow(applied: AppliedMetadata, at: DynamicPosition): Unit = {
    val wanted = applied.read.flatMap { case (name, topics) => applied.clusters.get(name).map(name -> (_, topics)) }
    (workers -- wanted.keySet).foreach { case (name, entry) =>
      // Spark commits a batch after it has planned the next one, which needs no worker of a drained cluster.
      entry.worker.commit(at.of(name))
      close(name)
    }
    wanted.foreach { case (_, (cluster, topics)) => val _ = worker(cluster, topics) }
  }

  /** The worker of a cluster for these topics. */
  def worker(cluster: KafkaCluster, topics: SortedSet[String]): ClusterWorker = {
    val known = workers.get(cluster.name)
    known.filter(e => e.cluster == cluster && e.topics == topics).map(_.worker).getOrElse {
      known.foreach(_ => close(cluster.name))
      val enumerator = make(cluster, topics)
      val made       = new ClusterWorker(cluster.name, run, clock)(enumerator())
      if (frozen) made.freeze()
      workers += cluster.name -> ClusterWorkers.Entry(cluster, topics, made)
      made
    }
  }

  /** The worker of a cluster, whatever topics it is for. */
  def find(cluster: String): Option[ClusterWorker] = workers.get(cluster).map(_.worker)

  /** Tells each cluster that has a worker something of its part of a position, if that waits for no server. */
  def tell(at: DynamicPosition)(what: (ClusterEnumerator, KafkaPosition) => Unit): Unit =
    at.clusters.foreach { case (name, own) => find(name).foreach(_.peek(what(_, own))) }

  def all: SortedMap[String, ClusterWorker] = workers.map { case (name, entry) => name -> entry.worker }

  /** How far clusters can be read, all asked at once. One that does not answer in time is left out; so is one that is known not to,
    * unless `patient`.
    */
  def advance(
      from: SortedMap[String, KafkaPosition],
      here: AppliedMetadata,
      wait: Duration,
      patient: Boolean
  ): SortedMap[String, Reach] = {
    from.foreach { case (name, at) => find(name).foreach(_.ask(at, here.mappedOn(name), here.leavingOn(name))) }
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
