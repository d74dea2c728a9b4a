// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.life.cluster

import scala.collection.immutable.{SortedMap, SortedSet}

import splice.kafka.dynamic.{KafkaCluster, KafkaMetadataService, KafkaStream, StreamMetadata}
import splice.testkit.simulation.Simulation

/** Metadata document.
  *
  * @param clusters
  *   brokers of each cluster, by the name in the metadata
  * @param inactive
  *   names of inactive clusters
  */
final private[dynamic] case class LifeDocument(
    generation: Long,
    clusters: SortedMap[String, String],
    streams: SortedMap[String, KafkaStream],
    inactive: Set[String] = Set.empty
) {

  /** Metadata that the service returns. */
  def metadata: StreamMetadata = StreamMetadata(
    Some(generation),
    clusters.map { case (name, id) =>
      name -> KafkaCluster(
        name,
        SortedMap("bootstrap.servers" -> s"$id:9092"),
        active = !inactive(name)
      )
    },
    streams
  )

  /** Topics of all streams with the names of their clusters. */
  def topics: Set[(String, String)] = LifeDocument.topics(streams)

  override def toString: String = {
    val lines = streams.values.map(s =>
      s"${s.name}=${s.topics.map { case (c, t) => s"$c:${t.mkString("+")}" }.mkString(",")}" +
        s.cutover.fold("")(c => s" ($c)") + s.start.fold("")(at => s" from $at") +
        s.stop.fold("")(at => s" up to $at")
    )
    s"document $generation {${lines.mkString("; ")}}${if (inactive.isEmpty) ""
      else inactive.mkString(" inactive ", ",", "")}"
  }
}

private[dynamic] object LifeDocument {

  def topics(streams: Iterable[(String, KafkaStream)]): Set[(String, String)] =
    (for { (_, s) <- streams.iterator; (c, topics) <- s.topics.iterator; t <- topics.iterator } yield c -> t).toSet

  def stream(name: String, topics: (String, String)*): KafkaStream =
    KafkaStream(name, topics.groupMap(_._1)(_._2).map { case (c, t) => c -> SortedSet.from(t) }.to(SortedMap))
}

/** Documents of a metadata service, which remain between runs of the query. */
final private[dynamic] class LifeDocuments(first: LifeDocument) {

  private var newest   = first
  private var version  = 0
  private var failures = 0
  private var open     = Set.empty[LifeService]

  /** True if each request fails. */
  @volatile var isUnavailable = false

  /** Creates the service of a run. */
  def service(): LifeService = synchronized {
    val created = new LifeService(this)
    open += created
    created
  }

  def close(service: LifeService): Unit = synchronized {
    open -= service
    notifyAll()
  }

  def current: LifeDocument = synchronized(newest)

  /** Publishes a document, and waits until each running query has it. */
  def publish(document: LifeDocument): Unit = synchronized {
    newest = document
    version += 1
    notifyAll()
    awaitServed()
  }

  /** Makes the next request of each running query fail. */
  def fail(): Unit = synchronized {
    version += 1
    failures = 1
    notifyAll()
    awaitServed()
    failures = 0
    version += 1
    notifyAll()
    awaitServed()
  }

  private def awaitServed(): Unit = {
    val limit = System.nanoTime() + Simulation.Patience.toNanos
    while (open.exists(s => s.isRunning && !s.isServed) && System.nanoTime() < limit) wait(1000)
    assert(!open.exists(s => s.isRunning && !s.isServed), "a query does not request the metadata")
  }

  /** Waits for a document that the service has not served. Returns the newest document. */
  private[life] def next(service: LifeService): LifeDocument = synchronized {
    // A waiting request implies that the query has the previous response.
    service.isWaiting = true
    notifyAll()
    while (open(service) && service.served.contains(version)) wait(1000)
    service.isWaiting = false
    service.served = Some(version)
    if (failures > 0 || isUnavailable) throw new IllegalStateException("the simulated metadata service fails")
    service.newest = service.newest.max(newest.generation)
    newest
  }

  private[life] def isServed(service: LifeService): Boolean =
    service.isWaiting && service.served.contains(version)
}

/** Metadata service of one run. A request waits for a document that was not returned yet. */
final private[dynamic] class LifeService(documents: LifeDocuments) extends KafkaMetadataService {

  // The lock of `documents` guards these fields.
  private[life] var isWaiting = false
  private[life] var served    = Option.empty[Int]
  private[life] var newest    = 0L

  private[life] def isServed: Boolean = documents.isServed(this)

  /** True if the query polls. */
  private[life] def isRunning: Boolean = served.nonEmpty

  /** Greatest generation that the run has received. */
  def received: Long = documents.synchronized(newest)

  /** Ends waiting requests. */
  def release(): Unit = documents.close(this)

  override def allStreams(): StreamMetadata = documents.next(this).metadata
}
