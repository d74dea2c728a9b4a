// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.life

import java.time.Duration

import scala.collection.immutable.SortedMap

import org.apache.spark.sql.types.StructType

import splice.kafka.dynamic.DynamicKafkaSource
import splice.kafka.dynamic.internal.cluster.ResponseWait
import splice.kafka.dynamic.internal.enumerator.DynamicEnumerator
import splice.kafka.dynamic.internal.metadata.MetadataDiscovery
import splice.kafka.dynamic.internal.reader.ClusterReads
import splice.kafka.dynamic.internal.settings.DynamicSettings
import splice.kafka.dynamic.internal.split.{DynamicOffset, DynamicSplitRange}
import splice.kafka.dynamic.life.cluster.{LifeCluster, LifeDocuments, LifeLog, LifeService, RangeReaders}
import splice.kafka.internal.admission.RecordSizes
import splice.kafka.internal.cluster.ClockedDiscovery
import splice.kafka.internal.enumerator.{ClusterEnumerator, KafkaEnumerator}
import splice.kafka.internal.options.{KafkaSettings, Subscription}
import splice.source._
import splice.source.log.Outlook
import splice.source.options.SourceOptions
import splice.source.runtime.{OpenEnded, Report}

/** Dynamic Kafka source over simulated clusters. Other test code does not depend on the construction of the source.
  *
  * @param clusters
  *   clusters by id
  * @param watch
  *   observer of the enumerators
  */
final private[dynamic] class LifeSource(
    options: Map[String, String],
    clusters: Map[String, LifeCluster],
    documents: LifeDocuments,
    watch: LifeWatch = LifeWatch.Nothing
) extends Source[DynamicOffset] {

  private val settings = DynamicSettings(SourceOptions(LifeSource.Options ++ options))
  private val real     = new DynamicKafkaSource(settings)

  override def kind: String                          = real.kind
  override def schema: StructType                    = real.schema
  override def metadataColumns: StructType           = real.metadataColumns
  override def readsLog: Boolean                     = real.readsLog
  override def identity: SortedMap[String, String]   = real.identity
  override def position(json: String): DynamicOffset = real.position(json)

  override def enumerator(outer: EnumeratorContext): SplitEnumerator[DynamicOffset] = {
    val context   = watch.timed(outer).copy(run = watch.run(outer.run))
    val service   = documents.service()
    val discovery = new MetadataDiscovery(
      service,
      settings.selection,
      Duration.ofMillis(1),
      settings.metadataPatience,
      context.steady,
      context.run
    )
    val inner = new DynamicEnumerator(
      settings,
      context,
      discovery,
      (cluster, topics, scope, _) => {
        val own = settings.of(cluster, topics)
        val log = client(own)
        watch.ofCluster(
          KafkaEnumerator(own, scope, log, new ClockedDiscovery(log, own.discoveryInterval, context.steady))
        )
      },
      new RecordSizes,
      new ClusterReads(context.run),
      watch.responses
    )
    val created = new LifeEnumerator(inner, service, watch, end)
    watch.opened(created)
    created
  }

  /** Returns the end of the log of a range. In these ranges, the name of a cluster is its id. */
  private def end(of: DynamicSplitRange): Long =
    clusters.get(of.cluster).flatMap(_.log(of.range.partition)).fold(0L)(_.size.toLong)

  private def client(own: KafkaSettings): LifeLog = {
    val topics = own.subscription match {
      case Subscription.Topics(names) => names
      case other                      => throw new AssertionError(s"a subscription to $other")
    }
    new LifeLog(clusters(own.client.servers.stripSuffix(":9092")), topics, watch.comparesPartitions)
  }
}

private[dynamic] object LifeSource {

  /** Options without real-time delays between requests. A failure of the metadata service never ends the query. */
  private val Options = Map(
    "streamPattern"               -> ".*",
    "metadata.file"               -> "unused",
    "startingOffsets"             -> "earliest",
    "fetchOffset.retryIntervalMs" -> "0",
    "metadata.failureTimeout"     -> "1000 days"
  )
}

/** Observer of the enumerators of a scenario. */
private[dynamic] trait LifeWatch {

  /** Context with the clocks of the scenario. */
  def timed(context: EnumeratorContext): EnumeratorContext = context

  /** Enumerator of a cluster. A planted fault wraps the enumerator, on the thread of the cluster. */
  def ofCluster(enumerator: ClusterEnumerator): ClusterEnumerator = enumerator

  /** True if a response with the states of topics contains new partitions. False for a planted fault. */
  def comparesPartitions: Boolean = true

  /** Wait for the responses of clusters. */
  def responses: ResponseWait = ResponseWait.InRealTime

  /** Name of a run, which is part of its thread names. */
  def run(name: String): String = name

  def opened(run: LifeEnumerator): Unit = ()

  /** Hook before a call that may send requests. */
  def begins(call: String): Unit = ()

  /** Hook after such a call has succeeded. */
  def ended(): Unit = ()

  /** Hook after the plan of a batch. */
  def advanced(run: LifeEnumerator, from: DynamicOffset, until: DynamicOffset): Unit = ()

  /** Hook after the start of a batch in real-time mode is settled. */
  def settled(run: LifeEnumerator, at: DynamicOffset): Unit = ()

  /** Hook after the end of a batch in real-time mode is determined. */
  def reached(): Unit = ()

  /** Returns the ranges of a batch in real-time mode. A planted fault replaces the ranges. */
  def open(ranges: Seq[SplitRange]): Seq[SplitRange] = ranges

  /** Returns the ranges that tasks have not read. A planted fault replaces the ranges. */
  def unread(planned: Seq[SplitRange], left: Seq[SplitRange]): Seq[SplitRange] = left
}

private[dynamic] object LifeWatch {
  object Nothing extends LifeWatch
}

/** Observed enumerator whose readers need no broker.
  *
  * @param end
  *   returns the end of the log of a range
  */
final private[dynamic] class LifeEnumerator(
    inner: DynamicEnumerator,
    val service: LifeService,
    watch: LifeWatch,
    end: DynamicSplitRange => Long
) extends SplitEnumerator[DynamicOffset]
    with OpenEnded[DynamicOffset] {

  override def start(at: StartPosition): DynamicOffset = during("start")(inner.start(at))

  override def advance(from: DynamicOffset, limits: Limits): DynamicOffset = {
    val until = during("advance")(inner.advance(from, limits))
    watch.advanced(this, from, until)
    until
  }

  override def settle(from: DynamicOffset): DynamicOffset = {
    val at = during("settle")(inner.settle(from))
    watch.settled(this, at)
    at
  }

  override def open(settled: DynamicOffset): Seq[SplitRange] = watch.open(inner.open(settled))

  override def reached(settled: DynamicOffset, unread: Seq[SplitRange]): DynamicOffset = {
    val until = inner.reached(settled, watch.unread(inner.open(settled), unread))
    watch.reached()
    until
  }

  override def isStale: Boolean = inner.isStale

  override def replay(from: DynamicOffset, until: DynamicOffset): Unit = during("replay")(inner.replay(from, until))

  override def splits(from: DynamicOffset, until: DynamicOffset): Seq[SplitRange] = inner.splits(from, until)

  override def readers(columns: StructType, ranges: Seq[SplitRange]): SplitReaderFactory =
    new RangeReaders(columns, ranges.collect { case of: DynamicSplitRange => of.splitId -> end(of) }.toMap)

  override def limits(at: DynamicOffset): Limits.Limited = inner.limits(at)

  override def freeze(): Unit = inner.freeze()

  override def cost(range: SplitRange): Long = inner.cost(range)

  override def isMember(at: DynamicOffset): String => Boolean = inner.isMember(at)

  override def evidence(at: DynamicOffset): Option[Evidence] = inner.evidence(at)

  override def outlook(): Outlook = inner.outlook()

  override def reported(reports: Seq[Report]): Unit = inner.reported(reports)

  override def committed(until: DynamicOffset): Unit = during("committed")(inner.committed(until))

  override def commitEnd(at: DynamicOffset): Boolean = inner.commitEnd(at)

  override def retain(oldest: DynamicOffset): Unit = inner.retain(oldest)

  override def stopped(last: => Option[DynamicOffset]): Unit = inner.stopped(last)

  override def figures(at: DynamicOffset): SortedMap[String, String] = inner.figures(at)

  override def close(): Unit = {
    service.release()
    inner.close()
  }

  private def during[A](call: String)(body: => A): A = {
    watch.begins(call)
    val result = body
    watch.ended()
    result
  }
}
