// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.cluster

import java.time.{Clock, Duration}
import java.util.concurrent.{CountDownLatch, TimeUnit}

import scala.collection.immutable.{SortedMap, SortedSet}

import splice.kafka.dynamic.KafkaCluster
import splice.kafka.dynamic.internal.split.{ClusterTopic, DynamicPosition}
import splice.kafka.dynamic.internal.state.{AppliedMetadata, Availability}
import splice.kafka.internal.enumerator.ClusterEnumerator
import splice.kafka.internal.split.KafkaPosition

/** Workers, one per cluster with topics that are read. A worker is replaced only if its topics or properties change.
  *
  * @param make
  *   creates the enumerator of some topics of a cluster, on the worker's thread
  */
final private[dynamic] class ClusterWorkers(
    run: String,
    clock: Clock,
    await: ResponseWait = ResponseWait.InRealTime
)(
    make: (KafkaCluster, SortedSet[String]) => () => ClusterEnumerator
) extends AutoCloseable {

  @volatile private var workers: SortedMap[String, ClusterWorkers.Entry] = SortedMap.empty

  // The ends of replaced workers that are closing, each with the name of the cluster.
  private var closing = Seq.empty[(String, CountDownLatch)]

  private var frozen = false

  /** Fixes the ends of all logs, including logs of clusters that are added later. */
  def freeze(): Unit = {
    frozen = true
    workers.valuesIterator.foreach(_.worker.freeze())
  }

  /** Updates the properties of clusters, for requests that are repeated. */
  def renew(clusters: SortedMap[String, KafkaCluster]): Unit = workers = workers.map { case (name, entry) =>
    val cluster = clusters.getOrElse(name, entry.cluster)
    if (!cluster.connectsAs(entry.cluster)) {
      val enumerator = make(cluster, entry.topics)
      entry.worker.renew(enumerator())
    }
    name -> entry.copy(cluster = cluster)
  }

  /** Returns a cluster that has a worker, with its current properties. */
  def cluster(name: String): Option[KafkaCluster] = workers.get(name).map(_.cluster)

  /** Creates and ends workers, so that exactly the clusters with topics that are read have a worker.
    *
    * @param at
    *   the position up to which all rows were read
    */
  def follow(applied: AppliedMetadata, at: DynamicPosition): Unit = {
    val wanted   = applied.read.flatMap { case (name, topics) => applied.clusters.get(name).map(name -> (_, topics)) }
    val outdated = workers.filterNot { case (name, entry) =>
      wanted.get(name).exists { case (cluster, topics) => entry.isFor(cluster, topics) }
    }
    replace(outdated) { case (name, entry) =>
      // Spark has committed the batch that ends at this position, but reports the commit only after the plan of the
      // next batch. The next worker of the cluster does not commit offsets of topics that are not read any more.
      val read = wanted.get(name).fold(SortedSet.empty[String]) { case (_, topics) => topics }
      entry.worker.commit(read.foldLeft(at.of(name))(_ without _))
    }
    wanted.foreach { case (_, (cluster, topics)) => val _ = worker(cluster, topics) }
  }

  /** Returns the worker of a cluster for these topics. */
  def worker(cluster: KafkaCluster, topics: SortedSet[String]): ClusterWorker = {
    val known = workers.get(cluster.name)
    known.filter(_.isFor(cluster, topics)).map(_.worker).getOrElse {
      replace(workers.filter(_._1 == cluster.name))(_ => ())
      val earlier    = closing.collect { case (name, closed) if name == cluster.name => closed }
      val enumerator = make(cluster, topics)
      val created    = new ClusterWorker(cluster.name, run, clock, await)({
        // An earlier enumerator of the cluster may still write entries of the side log.
        earlier.foreach(_.await())
        enumerator()
      })
      if (frozen) created.freeze()
      workers += cluster.name -> ClusterWorkers.Entry(cluster, topics, created)
      created
    }
  }

  /** Returns the worker of a cluster, for any topics. */
  def find(cluster: String): Option[ClusterWorker] = workers.get(cluster).map(_.worker)

  def availability(topic: ClusterTopic): Availability =
    find(topic.cluster).fold[Availability](Availability.Unknown)(_.availability(topic.topic))

  /** Calls the enumerator of each cluster that has a worker with its part of a position, unless a call of the worker is
    * pending.
    */
  def call(at: DynamicPosition)(action: (ClusterEnumerator, KafkaPosition) => Unit): Unit =
    at.clusters.toSeq.flatMap { case (name, position) => find(name).flatMap(_.peek(action(_, position))) }.foreach(_())

  def all: SortedMap[String, ClusterWorker] = workers.map { case (name, entry) => name -> entry.worker }

  /** The workers of the clusters that the query reads now. */
  def active(applied: AppliedMetadata): SortedMap[String, ClusterWorker] =
    all.filter { case (name, _) => applied.read.contains(name) && applied.isActive(name) }

  /** Sends a request to active clusters at the same time, and returns the responses that arrive in time.
    *
    * @param always
    *   true if clusters that are unavailable, or that have a pending request, receive the request too
    * @param isAsked
    *   true if a cluster receives the request
    */
  def attempt[A](applied: AppliedMetadata, wait: Duration, always: Boolean)(isAsked: String => Boolean)(
      request: (String, ClusterEnumerator) => A
  ): SortedMap[String, A] = {
    val sent = active(applied).filter { case (name, _) => isAsked(name) }.flatMap { case (name, worker) =>
      worker.attempt(always)(request(name, _)).map(name -> _)
    }
    val deadline = clock.instant().plus(wait)
    sent.flatMap { case (name, response) => response(deadline).map(name -> _) }
  }

  /** Sends requests to clusters at the same time and returns the responses. Without a response in time, the result has
    * no entry for a cluster. An unavailable cluster gets the full time only if `patient` is true.
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

  /** Returns true if the next batch may read more partitions of a cluster. Any thread may call this method.
    *
    * @param isRead
    *   true if the query reads a cluster now
    */
  def isStale(isRead: String => Boolean): Boolean = workers.exists { case (name, entry) =>
    isRead(name) && entry.worker.isStale
  }

  // All workers end at the same time, so that several slow workers delay the end of the query only once.
  override def close(): Unit = {
    workers.valuesIterator.foreach(_.worker.end())
    val deadline = ClusterWorker.closing()
    workers.valuesIterator.foreach(_.worker.close(deadline))
    closing.foreach { case (_, closed) =>
      val _ = closed.await(math.max(deadline - System.nanoTime(), 0L), TimeUnit.NANOSECONDS)
    }
    workers = SortedMap.empty
    closing = Nil
  }

  /** Removes workers. They close on separate threads, because the clients of an unavailable cluster close slowly. */
  private def replace(entries: SortedMap[String, ClusterWorkers.Entry])(
      before: ((String, ClusterWorkers.Entry)) => Unit
  ): Unit = {
    val ending = entries.toSeq.map { entry =>
      before(entry)
      entry._1 -> entry._2.worker.closeSoon()
    }
    closing = closing.filter(_._2.getCount > 0) ++ ending
    workers --= entries.keySet
  }
}

private[dynamic] object ClusterWorkers {
  final private case class Entry(
      cluster: KafkaCluster,
      topics: SortedSet[String],
      worker: ClusterWorker
  ) {
    def isFor(other: KafkaCluster, others: SortedSet[String]): Boolean = other.connectsAs(cluster) &&
      others == topics
  }
}
