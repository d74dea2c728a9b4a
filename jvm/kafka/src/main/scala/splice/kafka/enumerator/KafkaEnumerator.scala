// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.enumerator

import scala.annotation.tailrec
import scala.collection.immutable.SortedMap

import org.apache.spark.sql.types.StructType

import splice.kafka.dynamic.enumerator.ClusterEnumerator
import splice.kafka.lag.{LagBook, ReadReports}
import splice.kafka.options.{KafkaSettings, StartingOffsets}
import splice.kafka.reader.{KafkaReaders, ReaderPool}
import splice.kafka.split.{KafkaPosition, KafkaSplitRange}
import splice.kafka.{DataLoss, KafkaErrors, MissingRange}
import splice.source._

/** Finds a cluster's partitions and decides how far each batch reads them.
  *
  * Everything that a plan depends on is in the position or in the side log: the first position (which the caller stores), the
  * ends of a bounded source ([[EndingLog]]), the starts of partitions found later ([[StartLog]]), ranges that are passed over
  * ([[SkipLog]]), and the cluster and topics that these numbers belong to ([[IdentityLog]], [[DeletionLog]]). [[KafkaPlan]] reads it.
  */
final private[splice] class KafkaEnumerator(
    settings: KafkaSettings,
    context: EnumeratorContext,
    log: LogMetadata,
    discovery: Discovery,
    looks: SecondLook,
    sizes: RecordSizes,
    reports: ReadReports
) extends ClusterEnumerator {

  /** With figures of its own. */
  def this(
      settings: KafkaSettings,
      context: EnumeratorContext,
      log: LogMetadata,
      discovery: Discovery,
      looks: SecondLook
  ) = this(settings, context, log, discovery, looks, new RecordSizes, new ReadReports(context.run))

  private val policies   = settings.policies
  private val watch      = new EndWatch(log, looks, DataLoss(settings.failOnDataLoss))
  private val retention  = new Retention(log, policies.outOfRange)
  private val resolver   = new StartResolver(log, retention, looks, settings.client.group)
  private val startLog   = new StartLog(context.sideLog)
  private val skipLog    = new SkipLog(context.sideLog)
  private val fillLog    = new FillLog(context.sideLog)
  private val endingLog  = new EndingLog(context.sideLog, log, context.mode, resolver)
  private val identity   = new IdentityLog(context.sideLog)
  private val deletions  = new DeletionLog(context.sideLog)
  private val recreation =
    new Recreation(log, identity, deletions, policies.recreated, settings.client.servers, newStarts(_), watch.last)
  private val removal    = new Removal(deletions, policies.removed, context.clock, watch.last)
  private val membership = new Membership(settings, discovery, identity, recreation, removal, looks)
  private val ends       = new LogEnds(membership, watch)
  private val skips      = new Skips(log, skipLog, fillLog, retention, watch)
  private val replays    = new Replay(log, membership, identity, startLog, skipLog)
  private val outage     = new Outage(policies.patience, context.clock, () => looks.waitForNext())
  private val lag        = new LagBook
  private val sharing    = new Sharing(settings.admission, sizes)

  private var moving                         = false
  private var refreshing                     = false
  private var shownAt: Option[KafkaPosition] = None
  private var filled                         = 0L

  override def start(at: StartPosition, of: Map[String, StartingOffsets]): KafkaPosition = {
    val wanted = at match {
      case exact: StartPosition.Offsets => exact.starts
      case _                            => SortedMap.empty[LogPartition, OffsetRanges]
    }
    val partitions = membership.first(wanted.keySet)
    membership.requireAll()
    if (context.mode == ReadMode.Batch && at == StartPosition.Configured)
      (configuredStart +: of.values.toSeq).foreach(BatchBounds.refuse)
    val begin = at match {
      case StartPosition.Configured      => resolver.configured(configuredStart, of, partitions)
      case _: StartPosition.Offsets      => resolver.exactly(wanted, partitions)
      case time: StartPosition.Timestamp => resolver.handed(time, partitions)
    }
    val own = membership.begin(begin)
    // Holes of a start that was not stored are not those of this one.
    fillLog.begin(own, wanted)
    settings.ending.fold(own) { ending =>
      val entry = endingLog.begin(ending, own, partitions)
      if (context.mode == ReadMode.Batch) BatchBounds.refuse(entry)
      entry.start
    }
  }

  override def limits(at: KafkaPosition): Limits.Limited = settings.limits

  override def advance(from: KafkaPosition, limits: Limits): KafkaPosition = {
    // A run whose end is fixed would be over if nothing came of it, and so would one of a chain while a bounded leg is read.
    val until =
      if (ends.isFrozen || settings.ending.nonEmpty) outage.wait(() => go(from, limits))
      else outage.idle(from)(go(from, limits))
    moving = until != from
    if (until == from) from else until
  }

  override def plan: KafkaPlan = KafkaPlan(startLog.known, skipLog.known, identity.known, fillLog.known)

  override def logRanges(history: SortedMap[LogPartition, Long]): SortedMap[LogPartition, LogRange] = {
    val partitions = membership.first(history.keySet)
    membership.requireAll()
    def ends()                               = log.ends(partitions)
    def isShort(of: Map[LogPartition, Long]) = history.exists { case (p, end) => of.get(p).exists(_ < end) }
    // Ends come first: a record that is written in between is read after the start.
    val until = looks.confirm(ends())(isShort)(() => ends())
    val from  = log.earliest(partitions)
    SortedMap.from(partitions.iterator.map { p =>
      val first = from.getOrElse(p, 0L)
      p -> LogRange(first, math.max(first, until.getOrElse(p, first)))
    })
  }

  override def records(at: SortedMap[LogPartition, Long]): SortedMap[LogPartition, LogRecord] =
    SortedMap.from(log.records(at))

  override def outlook(): Outlook = {
    val ranges = logRanges(SortedMap.empty)
    log.checkReadable(ranges.keySet.map(_.topic).toSet)
    KafkaOutlook(ranges, log)
  }

  override def replay(from: KafkaPosition, until: KafkaPosition): Unit =
    if (from != until) outage.wait(() => replays(plan, from, until))

  override def readers(columns: StructType, ranges: Seq[SplitRange]): SplitReaderFactory =
    KafkaReaders(settings, columns, context, reports.key)

  override def cost(range: SplitRange): Long = range match {
    case own: KafkaSplitRange => sizes.cost(own.partition.topic, own.weight)
    case other                => other.weight
  }

  override def isMember(at: KafkaPosition): String => Boolean = {
    val there = membership.known
    at.offsets.keysIterator.filter(p => there.forall(_(p))).map(_.toString).toSet
  }

  override def end(at: KafkaPosition): Option[EndState] = settings.ending.flatMap { ending =>
    val entry  = outage.wait(() => endingLog.resolve(ending, at, membership.settle(at).partitions))
    val unread = entry.end.offsets.filter { case (p, end) => !at.get(p).exists(_ >= end) && !removal.isKnown(p.topic) }
    val left   = for { (p, end) <- unread; from <- at.get(p) if !settings.subscription.covers(p) } yield MissingRange(
      p,
      from,
      Some(end)
    )
    if (left.nonEmpty) throw KafkaErrors.endNotSubscribed(left.toSeq)
    if (unread.isEmpty) Some(new KafkaEndState(entry, at, skipLog.known)) else None
  }

  // Servers that never answered before are more likely to be wrong than to be away.
  override def freeze(): Unit = if (identity.known.isEmpty) ends.freeze() else outage.wait(() => ends.freeze())

  override def committed(until: KafkaPosition): Unit = if (settings.commitToGroup) {
    val position = identity.known.meant(until)
    log.commit(position.offsets.filter { case (p, _) => membership.holds(p, position.generation(p.topic)) })
  }

  override def retain(oldest: KafkaPosition): Unit = skipLog.retain(identity.known.meant(oldest))

  override def stopped(last: => Option[KafkaPosition]): Unit = if (settings.commitToGroup) last.foreach(committed)

  override def reported(all: Seq[Report]): Unit = reports.add(all)

  override def figures(at: KafkaPosition): SortedMap[String, String] = {
    val told = reports.take()
    told.partitions.foreach { case (p, read) => sizes.learn(p.topic, read.rows, read.bytes) }
    val found = told.partitions.keySet.map(_.topic)
    shownAt.foreach { before =>
      at.topics.filter(t => !found(t) && before.of(t) != at.of(t)).foreach(sizes.foundNone)
    }
    shownAt = Some(at)
    filled += told.filled
    val toFill = at.offsets.iterator.map { case (p, offset) =>
      fillLog.known.find(p, at.generation(p.topic)).fold(0L)(fill => math.max(fill.total - fill.rank(offset), 0L))
    }.sum
    val fill = if (fillLog.known.isEmpty) Nil
    else Seq(ProgressMetric.RowsFilled -> filled.toString, ProgressMetric.OffsetsToFill -> toFill.toString)
    lag.look(unfilled(at), watch.last, told, context.clock.instant()).report ++ told.report ++ fill ++ Seq(
      ProgressMetric.Position         -> shown(at),
      ProgressMetric.Splits           -> at.offsets.size.toString,
      ProgressMetric.MetadataFailures -> discovery.health.failures.toString
    ) ++ discovery.health.age(context.clock.instant()).map(ProgressMetric.MetadataAge -> _.toMillis.toString)
  }

  /** Offsets that are behind their ends by as much as there is to read. */
  private def unfilled(at: KafkaPosition): SortedMap[LogPartition, Long] =
    if (fillLog.known.isEmpty) at.offsets
    else
      at.offsets.map { case (p, offset) =>
        val end = watch.last(p).getOrElse(offset)
        p -> (end - fillLog.known.between(p, at.generation(p.topic), offset, end))
      }

  override def expect(starts: KafkaPosition): Unit = watch.expect(starts)

  override def refresh(): Unit = refreshing = true

  override def written(partitions: Set[LogPartition]): Map[LogPartition, Long] = log.written(partitions)

  override def clusterId: Option[String] = identity.known.cluster

  override def atTime(millis: Map[LogPartition, Long]): Map[LogPartition, TimedOffset] = log.atTime(millis)

  override def close(): Unit = {
    discovery.close()
    log.close()
    ReaderPool.release(context.run)
  }

  private def configuredStart: StartingOffsets = settings.start.getOrElse(context.mode match {
    case ReadMode.Stream => StartingOffsets.Latest
    case ReadMode.Batch  => StartingOffsets.Earliest
  })

  @tailrec private def go(at: KafkaPosition, limits: Limits, looked: Boolean = false): KafkaPosition = {
    discovery.health.failing.foreach { case (since, error) =>
      if (context.clock.instant().isAfter(since.plus(policies.patience))) throw error
    }
    val Settled(here, there) = if (refreshing) membership.look(at) else membership.settle(at)
    refreshing = false
    if (here.generations != at.generations)
      ends.renew(here.topics.filter(t => here.generation(t) != at.generation(t)), there)
    val ending = settings.ending.map(endingLog.resolve(_, here, there).end)
    val within = ends.reach(there, ending)
    val found  = startLog.starts(within -- here.offsets.keySet, here)(newStarts)
    val begun  = skips.known(here ++ found)
    val behind = skips.behind(begun, within)
    // Asked beside the ends while batches follow one another, else only once there is something to read.
    val early = if (moving) Some(log.topicIds(within.map(_.topic))) else None
    ends.of(begun, within) match {
      case None      => go(at, limits, looked = true)
      case Some(now) =>
        val most  = ending.foldLeft(now)(ends.cut(begun))
        val start = skips.pass(begun, most, behind)
        val next  = until(start, skips.reached(begun, start, most), limits)
        val moved = if (looked) Set.empty[String] else next.topics.filter(t => next.of(t) != here.of(t))
        if (moved.isEmpty || recreation.owns(moved, early.getOrElse(log.topicIds(moved))())) next
        else {
          val _ = membership.look(at)
          go(at, limits, looked = true)
        }
    }
  }

  /** How far a batch goes that begins at `from`, if there is enough to read until `ends`. */
  private def until(from: KafkaPosition, ends: Map[LogPartition, Long], limits: Limits): KafkaPosition = {
    val ready = from.offsets.collect { case (p, offset) if ends.contains(p) => p -> (offset -> ends(p)) }
    val fills = fillLog.known
    val rows  = ready.iterator.map { case (p, (at, end)) => fills.between(p, from.generation(p.topic), at, end) }.sum
    if (limits.minRows.exists(rows < _)) from
    else from ++ fills.share(ready, (p: LogPartition) => p -> from.generation(p.topic))(sharing(limits, _))
  }

  private def newStarts(partitions: Set[LogPartition]): Map[LogPartition, Long] =
    log.starts(policies.newPartitions, partitions)

  private def shown(position: KafkaPosition): String =
    if (position.json.length <= 80) position.json
    else
      s"${position.offsets.size} partitions of ${position.topics.size} topics, ${position.offsets.valuesIterator.sum} offsets"
}

private[splice] object KafkaEnumerator {

  /** The enumerator of a cluster that is asked by Kafka's own clients.
    *
    * @param sizes
    *   what is known of records, and learned here
    * @param reports
    *   the figures of the query's tasks
    */
  def apply(
      settings: KafkaSettings,
      context: EnumeratorContext,
      sizes: RecordSizes,
      reports: ReadReports
  ): KafkaEnumerator = {
    val log       = new KafkaLogMetadata(settings, context.run)
    val discovery = new BackgroundDiscovery(log, settings.discoveryInterval, context.clock, context.run)
    new KafkaEnumerator(settings, context, log, discovery, looks(settings), sizes, reports)
  }

  /** The enumerator over another log, such as a simulated one. */
  def apply(
      settings: KafkaSettings,
      context: EnumeratorContext,
      log: LogMetadata,
      discovery: Discovery
  ): KafkaEnumerator = new KafkaEnumerator(settings, context, log, discovery, looks(settings))

  private def looks(settings: KafkaSettings) = SecondLook(settings.retries, settings.retryInterval)
}
