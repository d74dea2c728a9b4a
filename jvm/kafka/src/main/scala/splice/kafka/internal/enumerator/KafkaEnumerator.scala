// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.enumerator

import java.time.{Duration, Instant}

import scala.annotation.tailrec
import scala.collection.immutable.{SortedMap, SortedSet}

import org.apache.spark.sql.types.StructType

import splice.kafka.Place
import splice.kafka.internal.admission.{RecordSizes, RecordTimes}
import splice.kafka.internal.bounds.{Available, Bounds, EndOffsets, SkippedRanges}
import splice.kafka.internal.cluster._
import splice.kafka.internal.errors.{DataLoss, KafkaErrors, MissingRange, SkippedRows}
import splice.kafka.internal.identity.{Settled, Topics}
import splice.kafka.internal.metrics.{ReadReports, TaskReads}
import splice.kafka.internal.options.KafkaSettings
import splice.kafka.internal.pool.ReaderPool
import splice.kafka.internal.reader.KafkaReaders
import splice.kafka.internal.split.{KafkaPosition, KafkaSplitRange}
import splice.source._
import splice.source.log.{LogRange, Outlook}
import splice.source.runtime.Report

/** Finds the partitions of a cluster, and computes the end of each batch.
  *
  * A plan depends only on the position and on the side log, which [[KafkaPlan]] reads. The side log has these entries:
  *   - the start and its holes, which the caller stores
  *   - the cluster and the topics to which the offsets belong ([[splice.kafka.internal.identity.Topics]])
  *   - the end of a bounded source, the starts of partitions that were added later, and skipped ranges
  *     ([[splice.kafka.internal.bounds.Bounds]])
  *
  * @param cluster
  *   the access to the cluster, which the enumerator closes
  * @param sizes
  *   the sizes of records, which the enumerator updates
  * @param reports
  *   the reports of the query's tasks
  */
final private[splice] class KafkaEnumerator(
    settings: KafkaSettings,
    context: EnumeratorContext,
    cluster: ClusterAccess,
    sizes: RecordSizes,
    reports: ReadReports
) extends ClusterEnumerator {

  private val log      = cluster.client
  private val skipped  = new SkippedRows
  private val loss     = DataLoss(settings.failOnDataLoss, skipped)
  private val lastEnds = new EndOffsets(log, cluster.recheck, loss, settings.client.readsCommitted)
  private val topics   = new Topics(settings, cluster, context, lastEnds.last, skipped, addUnread)
  private val bounds   = new Bounds(settings, context, cluster, topics, lastEnds, skipped)
  private val batches  = new BatchEnds(settings, context, cluster, bounds, sizes, reports.delay)
  private val progress =
    new KafkaFigures(sizes, reports, bounds, lastEnds, cluster, context, topics.reads, skipped, batches.eventTime)
  private val replays   = new Replay(settings, cluster, topics, bounds, skipped)
  private val contents  = new LogContents(cluster, topics, settings.client.readsCommitted)
  private val openReads = new OpenReads(topics, bounds, settings.ending.nonEmpty)(plan)

  context.listeners.listen(reports.key) {
    case reads: TaskReads if reads.unread.nonEmpty => bounds.addSkipped(reads.unread.filterNot(_.isOpen))
    case _                                         => ()
  }

  private var moving     = false
  private var refreshing = false

  override def start(at: StartPosition, of: Map[String, Place]): KafkaPosition = bounds.start(at, of)

  override def limits(at: KafkaPosition): Limits.Limited = settings.limits

  override def advance(from: KafkaPosition, limits: Limits): KafkaPosition = {
    storeUnread(from)
    reports.delay.next()
    // An empty batch would end a run with a fixed end, and also a run of a chain during a bounded leg. Such runs wait
    // for the cluster.
    val until =
      if (bounds.hasEnd) cluster.await {
        val next = cluster.unavailable.round(go(from, limits))
        // All rows are in the only batch of a run, so this batch must contain the rows of each partition.
        if (limits == Limits.Everything || next == from && limits.minRows.isEmpty)
          cluster.unavailable.require(!bounds.isDone(next, _))
        next
      }
      else cluster.idle(from)(cluster.unavailable.round(go(from, limits)))
    cluster.unavailable.check()
    moving = until != from
    batches.eventTime.foreach(_.warn(isEnd = limits == Limits.Everything || bounds.hasEnd && !moving))
    if (moving) until else from
  }

  // The readers wait while the cluster is unavailable.
  override def settle(from: KafkaPosition): KafkaPosition = {
    storeUnread(from)
    val at = cluster.idle(from)(cluster.unavailable.round {
      cluster.checkDiscovery()
      settled(from)
    })
    cluster.unavailable.check()
    openReads.begin(at)
  }

  override def isStale: Boolean = topics.isStale || openReads.lacksStarts

  override def open(at: KafkaPosition): Seq[SplitRange] = openReads.open(at)

  // The ranges are stored before the end, because a later run reads only the rows after the end.
  override def reached(at: KafkaPosition, left: Seq[SplitRange]): KafkaPosition = {
    val until = openReads.reached(at, left)
    storeUnread(until)
    until
  }

  override def silent: SortedMap[LogPartition, UnavailablePartition] = cluster.unavailable.all

  override def plan: KafkaPlan = KafkaPlan(bounds.starts.known, bounds.skips.known, topics.identities, bounds.fills)

  override def logRanges(history: SortedMap[LogPartition, Long]): SortedMap[LogPartition, LogRange] =
    contents.ranges(history)

  override def replay(from: KafkaPosition, until: KafkaPosition): Unit =
    if (from != until) cluster.await(replays(plan, from, until))

  override private[splice] def begun(ranges: Seq[SplitRange]): Unit =
    bounds.begun(ranges.collect { case range: KafkaSplitRange => range })

  override def readers(columns: StructType, ranges: Seq[SplitRange]): SplitReaderFactory =
    KafkaReaders(settings, columns, context, reports.key, ranges, sizes, waits = ranges.exists(_.isOpen))

  override def cost(range: SplitRange): Long = range match {
    case split: KafkaSplitRange => sizes.cost(split.partition.topic, split.weight)
    case other                  => other.weight
  }

  override def isMember(at: KafkaPosition): String => Boolean = {
    val existing = topics.partitions
    at.offsets.keysIterator.filter(p => existing.forall(_(p))).map(_.toString).toSet
  }

  override def evidence(at: KafkaPosition): Option[Evidence] = settings.ending.flatMap { ending =>
    storeUnread(at)
    val entry = cluster.await(bounds.resolve(ending, at, topics.settle(at).partitions))
    // A source of several clusters unsubscribes from a topic that was removed from the position.
    val open = entry.end.offsets.filter { case (p, _) => at.get(p).nonEmpty || settings.subscription.covers(p) }
    // The history has the offsets that are not left to read. A batch without an end does not pass these offsets.
    def isRead(p: LogPartition, end: Long) =
      at.get(p).exists(bounds.fills.between(p, at.generation(p.topic), _, end) == 0)
    val unread = open.filter { case (p, end) => !isRead(p, end) && !topics.isRemoved(p.topic) }
    val others = unread.filterNot { case (p, _) => settings.subscription.covers(p) }
    val left   = for { (p, end) <- others; from <- at.get(p) } yield MissingRange(p, from, Some(end))
    if (left.nonEmpty) throw KafkaErrors.endNotSubscribed(left.toSeq)
    val whole = topics.withRemoved(at)
    val lost  = for {
      (p, end) <- open if topics.isRemoved(p.topic); from <- whole.get(p) if from < end
    } yield MissingRange(p, from, Some(end))
    Option.when(unread.isEmpty) {
      // The offsets of a removed topic have the generation of its last position.
      val position = at.copy(generations = whole.generations)
      KafkaEvidence(entry, position, bounds.unread(SkippedRanges.of(lost, whole)), bounds.fills)
    }
  }

  // A later range may belong to a batch that is not committed, and Spark may read this batch again.
  override def storeUnread(at: KafkaPosition): Unit =
    reports.storeUnread(range => at.get(range.partition).exists(range.until <= _))(bounds.addCommitted(_))

  // A method, because `bounds` needs `topics`.
  private def addUnread(ranges: Seq[MissingRange], at: KafkaPosition): Unit = bounds.addUnread(ranges, at)

  // If the servers have never responded, a wrong address is more likely than an outage.
  override def freeze(): Unit = if (topics.identities.isEmpty) bounds.freeze() else cluster.await(bounds.freeze())

  override def committed(until: KafkaPosition): Unit = if (settings.commitToGroup) {
    val position = topics.identities.meant(until)
    log.commit(position.offsets.filter { case (p, _) =>
      topics.reads(p) && topics.holds(p, position.generation(p.topic))
    })
  }

  override def commitEnd(at: KafkaPosition): Boolean = {
    committed(at)
    log.flushCommits()
  }

  override def retain(oldest: KafkaPosition): Unit = bounds.retain(topics.identities.meant(oldest))

  override def stopped(last: => Option[KafkaPosition]): Unit = if (settings.commitToGroup) last.foreach(committed)

  override def figures(at: KafkaPosition): SortedMap[String, String] = {
    storeUnread(at)
    progress(at)
  }

  override def reported(all: Seq[Report]): Unit                      = reports.add(all)
  override def staleInterval: Option[Duration]                       = Some(settings.discoveryInterval)
  override def expect(starts: KafkaPosition): Unit                   = lastEnds.expect(starts)
  override def limit(ends: KafkaPosition, unread: Set[String]): Unit = bounds.limit(ends, unread)
  override def refresh(): Unit                                       = refreshing = true
  override def end: Option[KafkaPosition]                            = if (settings.ending.isEmpty) None else bounds.end
  override def written(partitions: Set[LogPartition]): Map[LogPartition, Long]         = log.written(partitions)
  override def ofTopics: SortedMap[String, Seq[(String, Long)]]                        = progress.ofTopics
  override def missing: SortedSet[String]                                              = topics.missing
  override def clusterId: Option[String]                                               = topics.identities.cluster
  override def atTime(millis: Map[LogPartition, Long]): Map[LogPartition, TimedOffset] = log.atTime(millis)
  override def firstTimes(start: Position): SortedMap[LogPartition, Instant]           = contents.firstTimes(start)
  override def outlook(): Outlook                                                      = contents.outlook()
  override def times: RecordTimes                                                      = batches.times

  override def close(): Unit =
    try cluster.close()
    finally ReaderPool.release(context.run)

  @tailrec private def go(at: KafkaPosition, limits: Limits, repeated: Boolean = false): KafkaPosition = {
    cluster.checkDiscovery()
    val settled @ Settled(position, existing) = if (refreshing) topics.refresh(at) else topics.settle(at)
    refreshing = false
    bounds.renew(at, settled)
    val begun = bounds.begin(settled)
    val isDue = !bounds.hasEnd && topics.check.isDue
    // While batches follow one another, the request is sent together with the request for ends. Otherwise, the request
    // is sent only if there are records to read.
    val early = Option.when(moving || isDue)(topics.check.send(begun.partitions.map(_.topic)))
    bounds.available(begun) match {
      case None                         => go(at, limits, repeated = true)
      case Some(Available(start, ends)) =>
        val next  = batches(start, ends, limits).getOrElse(at)
        val moved =
          if (repeated || next == at) Set.empty[String] else next.topics.filter(t => next.of(t) != position.of(t))
        val known = if (bounds.hasEnd) SortedSet.empty[LogPartition] else existing
        def seen  = early.getOrElse(topics.check.send(if (bounds.hasEnd) moved else begun.partitions.map(_.topic)))()
        if (cluster.unavailable.isDoubtful && isOutdated(at, settled)) go(at, limits, repeated = true)
        else if (repeated || moved.isEmpty && !isDue || topics.check.agrees(moved, known, seen)) next
        else {
          lastEnds.revert()
          val _ = topics.refresh(at)
          go(at, limits, repeated = true)
        }
    }
  }

  @tailrec private def settled(at: KafkaPosition): KafkaPosition = {
    val before = topics.settle(at)
    val next   = openReads.settle(before)
    if (cluster.unavailable.isDoubtful && isOutdated(at, before)) settled(at) else next
  }

  /** True if discovery returns another position or other partitions than before. A deleted topic may be the reason why
    * partitions do not respond.
    */
  private def isOutdated(at: KafkaPosition, before: Settled): Boolean = {
    val now = topics.refresh(at)
    cluster.unavailable.describe(now.partitions)
    now != before
  }

  override def lowered(ends: Map[LogPartition, Long]): Map[LogPartition, Long] = {
    def lower(): Map[LogPartition, Long] =
      log.written(ends.keySet).filter { case (p, end) => ends.get(p).exists(end < _) }
    cluster.recheck.confirm(lower())(_.nonEmpty)(() => lower())
  }

  override def newStarts(of: Set[LogPartition], start: Option[Place] = None): Map[LogPartition, Long] =
    bounds.newStarts(of, start)
}

private[splice] object KafkaEnumerator {

  /** Creates the enumerator of a cluster with Kafka's clients.
    *
    * @param sizes
    *   the sizes of records, which the enumerator updates
    * @param reports
    *   the reports of the query's tasks
    */
  def apply(
      settings: KafkaSettings,
      context: EnumeratorContext,
      sizes: RecordSizes,
      reports: ReadReports
  ): KafkaEnumerator = {
    val log       = new KafkaClusterClient(settings, context.run)
    val discovery = new BackgroundDiscovery(log, settings.discoveryInterval, context.steady, context.run)
    apply(settings, context, log, discovery, recheck(settings), sizes, reports)
  }

  /** Creates the enumerator for another implementation of the log, such as a simulation. */
  def apply(
      settings: KafkaSettings,
      context: EnumeratorContext,
      log: ClusterClient,
      discovery: Discovery
  ): KafkaEnumerator = apply(settings, context, log, discovery, recheck(settings))

  /** Creates the enumerator for another implementation of the log, with separate figures. */
  def apply(
      settings: KafkaSettings,
      context: EnumeratorContext,
      log: ClusterClient,
      discovery: Discovery,
      recheck: Recheck
  ): KafkaEnumerator =
    apply(settings, context, log, discovery, recheck, new RecordSizes, new ReadReports(context.run))

  /** Creates the enumerator for another implementation of the log, with the figures of the caller. */
  def apply(
      settings: KafkaSettings,
      context: EnumeratorContext,
      log: ClusterClient,
      discovery: Discovery,
      recheck: Recheck,
      sizes: RecordSizes,
      reports: ReadReports
  ): KafkaEnumerator = {
    val cluster =
      new ClusterAccess(
        log,
        discovery,
        recheck,
        settings.policies,
        context.steady,
        BatchEnds.areTimed(settings, context)
      )
    new KafkaEnumerator(settings, context, cluster, sizes, reports)
  }

  private def recheck(settings: KafkaSettings) = Recheck(settings.retries, settings.retryInterval)
}
