// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.cluster

import java.time.{Clock, Duration}

import scala.collection.immutable.{SortedMap, SortedSet}

import splice.kafka.dynamic.KafkaCluster
import splice.kafka.dynamic.internal.split.{ClusterTopic, DynamicPosition}
import splice.kafka.dynamic.internal.state.{AppliedMetadata, Availability}
import splice.kafka.internal.enumerator.ClusterEnumerator
import splice.kafka.internal.split.KafkaPosition

/** A worker per cluster that topics are read of. Only a change of its own topics or properties replaces a worker.
  *
  * @param make
  *   creates the enumerator of some topics of a cluster, on the worker's thread
  */
final private[dynamic] class ClusterWorkers(run: String, clock: Clock)(
    make: (KafkaCluster, SortedSet[String]) => () => ClusterEnumerator
) extends AutoCloseable {

  @volatile private var workers: SortedMap[String, ClusterWorkers.Entry] = SortedMap.empty

  private var frozen = false

  /** The run ends with what there is, also on clusters that it meets later. */
  def freeze(): Unit = {
    frozen = true
    workers.valuesIterator.foreach(_.worker.freeze())
  }

  /** Takes clusters as they are reached now, for questions that are asked again. */
  def renew(clusters: SortedMap[String, KafkaCluster]): Unit = workers = workers.map { case (name, entry) =>
    val cluster = clusters.getOrElse(name, entry.cluster)
    if (cluster.properties != entry.cluster.properties) {
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
    val wanted   = applied.read.flatMap { case (name, topics) => applied.clusters.get(name).map(name -> (_, topics)) }
    val outdated = workers.filterNot { case (name, entry) =>
      wanted.get(name).exists { case (cluster, topics) => entry.isFor(cluster, topics) }
    }
    end(outdated) { case (name, entry) =>
      // Spark commits a batch after it has planned the next one, which needs no worker of a drained cluster.
      if (!wanted.contains(name)) entry.worker.commit(at.of(name))
    }
    wanted.foreach { case (_, (cluster, topics)) => val _ = worker(cluster, topics) }
  }

  /** The worker of a cluster for these topics. */
  def worker(cluster: KafkaCluster, topics: SortedSet[String]): ClusterWorker = {
    val known = workers.get(cluster.name)
    known.filter(_.isFor(cluster, topics)).map(_.worker).getOrElse {
      end(workers.filter(_._1 == cluster.name))(_ => ())
      val enumerator = make(cluster, topics)
      val created       = new ClusterWorker(cluster.name, run, clock)(enumerator())
      if (frozen) created.freeze()
      workers += cluster.name -> ClusterWorkers.Entry(cluster, topics, created)
      created
    }
  }

  /** The worker of a cluster, whatever topics it is for. */
  def find(cluster: String): Option[ClusterWorker] = workers.get(cluster).map(_.worker)

  def availability(topic: ClusterTopic): Availability =
    find(topic.cluster).fold[Availability](Availability.Unknown)(_.availability(topic.topic))

  /** Tells each cluster that has a worker something of its part of a position, if that waits for no server. */
  def call(at: DynamicPosition)(what: (ClusterEnumerator, KafkaPosition) => Unit): Unit =
    at.clusters.toSeq.flatMap { case (name, own) => find(name).flatMap(_.peek(what(_, own))) }.foreach(_())

  def all: SortedMap[String, ClusterWorker] = workers.map { case (name, entry) => name -> entry.worker }

  /** The responses of clusters to requests that are all sent at once. A cluster that does not respond in time has none; neither has a
    * cluster that is known to be unavailable, unless `patient`.
    */
  def advance(
      requests: SortedMap[String, ClusterRequest],
      wait: Duration,
      patient: Boolean
  ): SortedMap[String, ClusterResponse] = {
    requests.foreach { case (name, request) => find(name).foreach(_.send(request)) }
    val deadline = clock.instant().plus(wait)
    requests.flatMap { case (name, request) =>
      find(name).flatMap(_.receive(request.from, wait, deadline, patient)).map(name -> _)
    }
  }

  /** Whether the next batch would read more partitions of a cluster. Any thread may call it. */
  def isStale: Boolean = workers.valuesIterator.exists(_.worker.isStale)

  override def close(): Unit = end(workers)(_ => ())

  // All workers end at the same time, so that several that end slowly delay the query only once.
  private def end(some: SortedMap[String, ClusterWorkers.Entry])(before: ((String, ClusterWorkers.Entry)) => Unit)
      : Unit = {
    some.foreach { entry =>
      before(entry)
      entry._2.worker.end()
    }
    val deadline = ClusterWorker.closing()
    some.valuesIterator.foreach(_.worker.close(deadline))
    workers --= some.keySet
  }
}

private[dynamic] object ClusterWorkers {
  final private case class Entry(cluster: KafkaCluster, topics: SortedSet[String], worker: ClusterWorker) {
    def isFor(other: KafkaCluster, others: SortedSet[String]): Boolean = other.properties == cluster.properties &&
      others == topics
  }
}
