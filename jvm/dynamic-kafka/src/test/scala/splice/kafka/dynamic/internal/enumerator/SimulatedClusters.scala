// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.enumerator

import java.util.concurrent.atomic.AtomicInteger
import java.util.concurrent.{CountDownLatch, Semaphore, TimeUnit}

import scala.collection.concurrent.TrieMap
import scala.collection.immutable.{SortedMap, SortedSet}

import splice.coordinator.internal.sidelog.MemorySideLog
import splice.kafka.dynamic.internal.reader.ClusterReads
import splice.kafka.dynamic.internal.settings.DynamicSettings
import splice.kafka.dynamic.internal.split.DynamicOffset
import splice.kafka.dynamic.{DynamicKafkaSource, KafkaCluster, KafkaMetadataService, KafkaStream, StreamMetadata}
import splice.kafka.internal.admission.RecordSizes
import splice.kafka.internal.cluster.{ClockedDiscovery, Discovery, LogDescription, Recheck}
import splice.kafka.internal.enumerator.{KafkaEnumerator, SimulatedLog, SimulatedRun}
import splice.kafka.internal.options.Subscription
import splice.source.errors.SpliceException
import splice.source.internal.polling.PollHealth
import splice.source.log.{LogPartitions, LogRange}
import splice.source.options.SourceOptions
import splice.source.runtime.{ReportListeners, SideLog}
import splice.source.{EnumeratorContext, LogPartition, ReadMode, SplitEnumerator, StartPosition, StoredStart}

/** Clusters in memory with equal numbers of topics, one stream per topic, and a side log that remains after crashes.
  *
  * Discovery runs again only if the clock advances.
  */
final class SimulatedClusters(clusters: Int, topics: Int, partitions: Int, options: (String, String)*) {

  private def settings(changed: Seq[(String, String)]): DynamicSettings = {
    val all = Map(
      "streamPattern"     -> ".*",
      "metadata.file"     -> "unused",
      "startingOffsets"   -> "earliest",
      "discoveryInterval" -> "1h",
      // A request that is pending while the clock advances is not an outage.
      "metadata.failureTimeout" -> "1000 days"
    ) ++ options ++ changed
    DynamicSettings(SourceOptions(if (all.contains("streams")) all - "streamPattern" else all))
  }

  private val names = (0 until clusters).map(c => f"cluster-$c%03d")

  private def topicsOf(cluster: String): SortedSet[String] =
    SortedSet.from((0 until topics).map(t => f"$cluster-topic-$t%03d"))

  var mode: ReadMode = ReadMode.Stream

  @volatile var inactive: Set[String] = Set.empty

  val side  = new MemorySideLog
  val clock = new SimulatedRun.Hands

  /** Listeners of the last start. */
  val listeners = new ReportListeners

  val logs: SortedMap[String, SimulatedLog] = SortedMap.from(names.map { name =>
    val log = new SimulatedLog(Subscription.Topics(topicsOf(name) + SimulatedClusters.Both))
    log.clusterId = Some(s"id-of-$name")
    topicsOf(name).foreach(log.create(_, partitions))
    name -> log
  })

  val source = new DynamicKafkaSource(settings(Nil))

  /** Discovery of topics of a cluster. */
  var discovery: String => Discovery = name => new ClockedDiscovery(logs(name), never, clock)

  /** True if the enumerator of a cluster sees only its topics, as two names of one cluster require. */
  var seesOwnTopics = false

  /** Number of created enumerators of single clusters. */
  val enumerators = new AtomicInteger

  /** The clusters for which the last enumerators were created, by name. */
  val clients = TrieMap.empty[String, KafkaCluster]

  private val refreshes = new Semaphore(0)

  @volatile private var metadata = StreamMetadata(
    Some(1),
    SortedMap.from(names.map(name => name -> KafkaCluster(name, SortedMap("bootstrap.servers" -> s"$name:9092")))),
    SortedMap.from(names.flatMap(name =>
      topicsOf(name).toSeq.map(topic => topic -> KafkaStream(topic, SortedMap(name -> SortedSet(topic))))
    ))
  )

  /** Field `confirmRemovals` of all documents. */
  @volatile var confirmRemovals: Option[Int] = None

  @volatile var unavailable = false

  /** Error of the document, if the document is not valid. */
  @volatile var invalid = Option.empty[SpliceException]

  /** Delays responses of the metadata service until the latch is released. */
  @volatile var hang = Option.empty[CountDownLatch]

  private object Service extends KafkaMetadataService {
    override def allStreams(): StreamMetadata = {
      hang.foreach(_.await())
      refreshes.release()
      if (unavailable) throw new IllegalStateException("unavailable")
      invalid.foreach(error => throw error)
      val clusters = metadata.clusters.map { case (name, own) => name -> own.copy(active = !inactive(name)) }
      metadata.copy(clusters = clusters, confirmRemovals = confirmRemovals)
    }
  }

  def generation: Long = metadata.generation.getOrElse(0L)

  /** Replaces the document. */
  def publish(document: StreamMetadata): Unit = metadata = document

  /** Replaces all streams by a document of the next generation. */
  def publish(streams: KafkaStream*): Unit = publish(generation + 1, streams: _*)

  /** Replaces all streams by a document of this generation. */
  def publish(generation: Long, streams: KafkaStream*): Unit =
    metadata = StreamMetadata(
      Some(generation),
      metadata.clusters,
      SortedMap.from(streams.map(s => s.name -> s))
    )

  /** Waits until a running query with a short `discoveryInterval` has the latest metadata. */
  def awaitRefresh(): Unit = {
    val _ = refreshes.drainPermits()
    // The second refresh begins after the first has ended.
    assert(refreshes.tryAcquire(2, 60, TimeUnit.SECONDS), "no refresh")
  }

  /** Appends one record to every partition of every cluster. */
  def write(): Unit = logs.values.foreach(log => log.partitions.foreach(p => log.fill(p.topic, p.partition, 1)))

  private var stored = Option.empty[StoredStart]

  /** Starts the source, and stores the start for later runs. */
  def begin(at: StartPosition, run: SplitEnumerator[DynamicOffset]): DynamicOffset = {
    val position = run.start(at)
    stored = Some(SimulatedRun.stored(position, at))
    position
  }

  /** Creates the enumerator of another start of the query.
    *
    * @param changed
    *   options that have other values in this start
    * @param service
    *   the metadata service of this start; None = the service that returns the published document
    */
  def start(
      sideLog: SideLog = side,
      changed: Seq[(String, String)] = Nil,
      service: Option[KafkaMetadataService] = None
  ): SplitEnumerator[DynamicOffset] = {
    val context =
      EnumeratorContext(sideLog, mode, clock, cores = 2, run = "simulated", start = stored, listeners = listeners)
    val current = settings(changed)
    val query   = new DynamicKafkaSource(current)
    val reads   = new ClusterReads(context.run)
    query.enumerator(context, service.getOrElse(Service), new RecordSizes, reads) { (cluster, own, scope, read) =>
      val log      = logs(server(cluster))
      val settings = current.of(cluster, own)
      enumerators.incrementAndGet()
      clients.update(cluster.name, cluster)
      val all     = discovery(server(cluster))
      val topics  = if (seesOwnTopics) seeing(own, all) else all
      val recheck = Recheck(settings.retries, settings.retryInterval)
      KafkaEnumerator(settings, scope, log, topics, recheck, new RecordSizes, read)
    }
  }

  private def seeing(topics: Set[String], all: Discovery): Discovery = new Discovery {
    private def own(seen: LogDescription) = seen.copy(
      topicIds = seen.topicIds.filter { case (topic, _) => topics(topic) },
      partitions = seen.partitions.filter(p => topics(p.topic))
    )
    override def now(): LogDescription           = own(all.now())
    override def news(): Option[LogDescription]  = all.news().map(own)
    override def pending: Option[LogDescription] = all.pending.map(own)
    override def health: PollHealth              = all.health
    override def close(): Unit                   = all.close()
  }

  private def server(cluster: KafkaCluster): String = cluster.properties("bootstrap.servers").stripSuffix(":9092")

  /** Returns the ranges of the logs, as a hand-over to a start requests them. */
  def ranges(
      of: SplitEnumerator[DynamicOffset],
      history: SortedMap[LogPartition, Long]
  ): SortedMap[LogPartition, LogRange] = of match {
    case reader: LogPartitions => reader.logRanges(history)
    case other                 => throw new AssertionError(s"$other does not read a log")
  }

  private def never = java.time.Duration.ofDays(1)
}

object SimulatedClusters {

  /** Topic that may be created on several clusters. */
  val Both = "both"
}
