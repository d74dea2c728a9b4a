// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.enumerator

import java.time.Duration

import scala.annotation.tailrec
import scala.collection.immutable.{SortedMap, SortedSet}

import org.apache.spark.sql.types.StructType

import splice.kafka.internal.admission.{RecordSizes, Sharing}
import splice.kafka.internal.bounds._
import splice.kafka.internal.cluster._
import splice.kafka.internal.errors.{DataLoss, KafkaErrors, MissingRange, SkippedRows}
import splice.kafka.internal.identity.{
  DeletionEntries,
  IdentityEntries,
  Membership,
  Recreation,
  Settled,
  TopicCheck,
  TopicRemoval
}
import splice.kafka.internal.metrics.ReadReports
import splice.kafka.internal.options.{KafkaSettings, StartingOffsets}
import splice.kafka.internal.pool.ReaderPool
import splice.kafka.internal.reader.KafkaReaders
import splice.kafka.internal.split.{KafkaPosition, KafkaSplitRange}
import splice.source._
import splice.source.log.{LogRange, LogRecord, Outlook}
import splice.source.runtime.Report

/** Finds the partitions of a cluster, and computes the end of each batch.
  *
  * A plan depends only on the position and on the side log, which [[KafkaPlan]] reads. The side log has these entries:
  *   - the start and its holes, which the caller stores
  *   - the end of a bounded source ([[EndingEntries]])
  *   - the starts of partitions that were added later ([[StartEntries]])
  *   - skipped ranges ([[SkipEntries]])
  *   - the cluster and the topics to which the offsets belong ([[IdentityEntries]], [[DeletionEntries]])
  */
final private[splice] class KafkaEnumerator(
    settings: KafkaSettings,
    context: EnumeratorContext,
    log: ClusterClient,
    discovery: Discovery,
    recheck: Recheck,
    sizes: RecordSizes,
    reports: ReadReports
) extends ClusterEnumerator {

  private val policies  = settings.policies
  private val servers   = settings.client.servers
  private val skipped   = new SkippedRows
  private val loss      = DataLoss(settings.failOnDataLoss, skipped)
  private val watch     = new EndOffsets(log, recheck, loss, settings.client.readsCommitted)
  private val silence   = new UnavailablePartitions(log, policies.partitionPatience, context.steady)
  private val retention = new Retention(log, policies.outOfRange, skipped)
  private val resolver  =
    new StartResolver(log, retention, recheck, settings.client.group, policies.newPartitions, settings.prefix)
  private val startLog   = new StartEntries(context.sideLog)
  private val skipLog    = new SkipEntries(context.sideLog)
  private val endingLog  = new EndingEntries(context, log, resolver)
  private val identity   = new IdentityEntries(context.sideLog, settings.hasGenerations)
  private val deletions  = new DeletionEntries(context.sideLog)
  private val recreation =
    new Recreation(log, identity, deletions, policies.recreated, servers, newStarts(_), watch.last, skipped)
  private val removal =
    new TopicRemoval(deletions, policies.removed, context.steady, watch.last, settings.subscription, skipped)
  private val membership = new Membership(settings, discovery, identity, recreation, removal, recheck)
  private val ends       = new LogEnds(log, membership, watch, silence)
  private val skips      = new RetentionGaps(silence.earliest, skipLog, () => fills, retention, watch)
  private val replays    = new Replay(settings, log, recheck, membership, identity, startLog, skipLog, skipped)
  private val topics     = new TopicCheck(log, recreation, settings.subscription, context.steady)
  private val outage     = new OutageTolerance(policies.patience, context.steady, () => recheck.waitForNext())
  private val sharing    = new Sharing(settings.admission, sizes)
  private val progress   =
    new KafkaFigures(sizes, reports, () => fills, watch, discovery, context, membership.reads, skipped)
  private val contents  = new LogContents(log, membership, recheck)
  private val openReads =
    new OpenReads(membership, startLog, endingLog, silence, skips, policies.newPartitions, settings.ending, isOutdated)(
      plan
    )

  private var fills      = Fills.of(context.start)
  private var moving     = false
  private var refreshing = false

  override def start(at: StartPosition, of: Map[String, StartingOffsets]): KafkaPosition = {
    val wanted = at match {
      case exact: StartPosition.Offsets => exact.starts
      case _                            => SortedMap.empty[LogPartition, OffsetRanges]
    }
    if (context.mode == ReadMode.Batch && at == StartPosition.Configured)
      (configuredStart +: of.values.toSeq).foreach(BatchBounds.reject(_, settings.ending, settings.prefix))
    val partitions = membership.first(wanted.keySet)
    membership.requireAll()
    val begin = at match {
      case StartPosition.Configured => resolver.configured(configuredStart, of, partitions)
      case _: StartPosition.Offsets => resolver.exactly(wanted, partitions)
      case time: StartPosition.Time => resolver.handed(time, partitions)
    }
    val start = membership.begin(begin)
    fills = Fills.of(start, wanted)
    settings.ending.foreach { ending =>
      val entry = endingLog.begin(ending, start, partitions)
      if (context.mode == ReadMode.Batch) BatchBounds.reject(entry, settings.prefix)
    }
    start
  }

  override def limits(at: KafkaPosition): Limits.Limited = settings.limits

  override def advance(from: KafkaPosition, limits: Limits): KafkaPosition = {
    // An empty batch would end a run with a fixed end, and also a run of a chain during a bounded leg. Such runs wait
    // for the cluster.
    val until =
      if (ends.isFrozen || settings.ending.nonEmpty) outage.wait { () =>
        val next = silence.round(go(from, limits))
        if (next == from && limits.minRows.isEmpty) silence.require(!isDone(from, _))
        next
      }
      else outage.idle(from)(silence.round(go(from, limits)))
    silence.check()
    moving = until != from
    if (until == from) from else until
  }

  // The readers wait while the cluster is unavailable.
  override def settle(from: KafkaPosition): KafkaPosition = openReads.begin(outage.idle(from)(silence.round {
    discovery.health.over(policies, context.steady.instant()).foreach(throw _)
    openReads.settle(from)
  }))

  override def isStale: Boolean = membership.isStale || openReads.lacksStarts

  override def open(at: KafkaPosition): Seq[SplitRange]                         = openReads.open(at)
  override def reached(at: KafkaPosition, left: Seq[SplitRange]): KafkaPosition = openReads.reached(at, left)

  /** True if a partition has been read to its fixed end. */
  private def isDone(at: KafkaPosition, p: LogPartition): Boolean = {
    val end = (ends.fixed(p) ++ endingLog.end.flatMap(_.get(p))).minOption
    at.get(p).exists(offset => end.exists(_ <= offset))
  }

  override def silent: SortedMap[LogPartition, UnavailablePartition] = silence.all

  override def plan: KafkaPlan = KafkaPlan(startLog.known, skipLog.known, identity.known, fills)

  override def logRanges(history: SortedMap[LogPartition, Long]): SortedMap[LogPartition, LogRange] =
    contents.ranges(history)

  override def records(at: SortedMap[LogPartition, Long]): SortedMap[LogPartition, LogRecord] =
    SortedMap.from(log.records(at))

  override def outlook(): Outlook = contents.outlook()

  override def replay(from: KafkaPosition, until: KafkaPosition): Unit =
    if (from != until) outage.wait(() => replays(plan, from, until))

  override def readers(columns: StructType, ranges: Seq[SplitRange]): SplitReaderFactory =
    KafkaReaders(settings, columns, context, reports.key, ranges, sizes, waits = ranges.exists(_.isOpen))

  override def cost(range: SplitRange): Long = range match {
    case split: KafkaSplitRange => sizes.cost(split.partition.topic, split.weight)
    case other                  => other.weight
  }

  override def isMember(at: KafkaPosition): String => Boolean = {
    val existing = membership.known
    at.offsets.keysIterator.filter(p => existing.forall(_(p))).map(_.toString).toSet
  }

  override def evidence(at: KafkaPosition): Option[Evidence] = settings.ending.flatMap { ending =>
    val entry = outage.wait(() => endingLog.resolve(ending, at, membership.settle(at).partitions))
    // A source of several clusters unsubscribes from a topic that was removed from the position.
    val open   = entry.end.offsets.filter { case (p, _) => at.get(p).nonEmpty || settings.subscription.covers(p) }
    val unread = open.filter { case (p, end) => !at.get(p).exists(_ >= end) && !removal.isKnown(p.topic) }
    val others = unread.filterNot { case (p, _) => settings.subscription.covers(p) }
    val left   = for { (p, end) <- others; from <- at.get(p) } yield MissingRange(p, from, Some(end))
    if (left.nonEmpty) throw KafkaErrors.endNotSubscribed(left.toSeq)
    if (unread.isEmpty) Some(new KafkaEvidence(entry, at, skipLog.known)) else None
  }

  // If the servers have never responded, a wrong address is more likely than an outage.
  override def freeze(): Unit = if (identity.known.isEmpty) ends.freeze() else outage.wait(() => ends.freeze())

  override def committed(until: KafkaPosition): Unit = if (settings.commitToGroup) {
    val position = identity.known.meant(until)
    log.commit(position.offsets.filter { case (p, _) =>
      membership.reads(p) && membership.holds(p, position.generation(p.topic))
    })
  }

  override def commitEnd(at: KafkaPosition): Boolean = {
    committed(at)
    log.flushCommits()
  }

  override def retain(oldest: KafkaPosition): Unit = skipLog.retain(identity.known.meant(oldest))

  override def stopped(last: => Option[KafkaPosition]): Unit = if (settings.commitToGroup) last.foreach(committed)

  override def reported(all: Seq[Report]): Unit                                = reports.add(all)
  override def figures(at: KafkaPosition): SortedMap[String, String]           = progress(at)
  override def staleInterval: Option[Duration]                                 = Some(settings.discoveryInterval)
  override def expect(starts: KafkaPosition): Unit                             = watch.expect(starts)
  override def refresh(): Unit                                                 = refreshing = true
  override def written(partitions: Set[LogPartition]): Map[LogPartition, Long] = log.written(partitions)
  override def ofTopics: SortedMap[String, Seq[(String, Long)]]                = progress.ofTopics
  override def missing: SortedSet[String]                                      = membership.missing
  override def clusterId: Option[String]                                       = identity.known.cluster
  override def atTime(millis: Map[LogPartition, Long]): Map[LogPartition, TimedOffset] = log.atTime(millis)

  override def close(): Unit =
    try discovery.close()
    finally try log.close()
      finally ReaderPool.release(context.run)

  private def configuredStart: StartingOffsets = settings.start.getOrElse(context.mode match {
    case ReadMode.Stream => StartingOffsets.Latest
    case ReadMode.Batch  => StartingOffsets.Earliest
  })

  @tailrec private def go(at: KafkaPosition, limits: Limits, repeated: Boolean = false): KafkaPosition = {
    discovery.health.over(policies, context.steady.instant()).foreach(throw _)
    val Settled(position, existing) = if (refreshing) membership.refresh(at) else membership.settle(at)
    refreshing = false
    if (position.generations != at.generations)
      ends.renew(position.topics.filter(t => position.generation(t) != at.generation(t)), existing)
    val ending = settings.ending.map(endingLog.resolve(_, position, existing).end)
    val within = ends.reach(existing, ending)
    val starts = startLog.starts(within -- position.offsets.keySet, position)(silence.starts(policies.newPartitions, _))
    val begun  = skips.known(position ++ starts)
    val behind = skips.behind(begun, within)
    val isOpen = !ends.isFrozen && settings.ending.isEmpty
    val isDue  = isOpen && topics.isDue
    // While batches follow one another, the request is sent together with the request for ends. Otherwise, the request
    // is sent only if there are records to read.
    val early = Option.when(moving || isDue)(topics.send(within.map(_.topic)))
    ends.of(begun, within) match {
      case None      => go(at, limits, repeated = true)
      case Some(now) =>
        val most  = ending.foldLeft(now)(ends.cut(begun))
        val start = skips.pass(begun, most, behind)
        val open  = skips.reached(begun, start, most).filterNot { case (p, _) => silence.isSilent(p) }
        val next  = until(start, open, limits).getOrElse(at)
        val moved =
          if (repeated || next == at) Set.empty[String] else next.topics.filter(t => next.of(t) != position.of(t))
        val known = if (isOpen) existing else SortedSet.empty[LogPartition]
        def seen  = early.getOrElse(topics.send(if (isOpen) within.map(_.topic) else moved))()
        if (silence.isDoubtful && isOutdated(at, Settled(position, existing))) go(at, limits, repeated = true)
        else if (repeated || moved.isEmpty && !isDue || topics.agrees(moved, known, seen)) next
        else {
          watch.revert()
          val _ = membership.refresh(at)
          go(at, limits, repeated = true)
        }
    }
  }

  /** True if discovery returns another position or other partitions than before. A deleted topic may be the reason why
    * partitions do not respond.
    */
  private def isOutdated(at: KafkaPosition, before: Settled): Boolean = {
    val now = membership.refresh(at)
    silence.describe(now.partitions)
    now != before
  }

  /** The end of a batch that begins at `from`; None if fewer rows are available than the minimum of a batch. */
  private def until(from: KafkaPosition, ends: Map[LogPartition, Long], limits: Limits): Option[KafkaPosition] = {
    // In an idle query, most partitions have no new records.
    val ready = from.offsets.collect { case (p, at) if ends.get(p).exists(_ != at) => p -> (at -> ends(p)) }
    val rows  = ready.iterator.map { case (p, (at, end)) => fills.between(p, from.generation(p.topic), at, end) }.sum
    if (limits.minRows.exists(rows < _)) None
    else Some(from ++ fills.share(ready, (p: LogPartition) => p -> from.generation(p.topic))(sharing(limits, _)))
  }

  override def lowered(ends: Map[LogPartition, Long]): Map[LogPartition, Long] = {
    def lower(): Map[LogPartition, Long] =
      log.written(ends.keySet).filter { case (p, end) => ends.get(p).exists(end < _) }
    recheck.confirm(lower())(_.nonEmpty)(() => lower())
  }

  override def newStarts(of: Set[LogPartition], start: Option[StartingOffsets] = None): Map[LogPartition, Long] =
    start.fold(log.starts(policies.newPartitions, of))(resolver.configured(_, Map.empty, SortedSet.from(of)).offsets)
}

private[splice] object KafkaEnumerator {

  /** Creates the enumerator of a cluster with Kafka's clients.
    *
    * @param sizes
    *   the sizes of records; the enumerator updates them
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
    new KafkaEnumerator(settings, context, log, discovery, recheck(settings), sizes, reports)
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
    new KafkaEnumerator(settings, context, log, discovery, recheck, new RecordSizes, new ReadReports(context.run))

  private def recheck(settings: KafkaSettings) = Recheck(settings.retries, settings.retryInterval)
}
