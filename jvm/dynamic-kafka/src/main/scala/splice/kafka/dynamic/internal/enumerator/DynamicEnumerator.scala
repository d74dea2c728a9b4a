// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.enumerator

import java.time.{Duration, Instant}
import java.util.concurrent.TimeUnit

import scala.annotation.tailrec
import scala.collection.immutable.{SortedMap, SortedSet}

import org.apache.spark.sql.types.StructType
import org.slf4j.LoggerFactory

import splice.kafka.dynamic.KafkaCluster
import splice.kafka.dynamic.internal.admission.{AlignedClusters, ClusterAdmission, ClusterCosts}
import splice.kafka.dynamic.internal.change.{ChangeRules, UpperBound}
import splice.kafka.dynamic.internal.cluster._
import splice.kafka.dynamic.internal.errors.DynamicErrors
import splice.kafka.dynamic.internal.metadata.MetadataDiscovery
import splice.kafka.dynamic.internal.options.DynamicOptions
import splice.kafka.dynamic.internal.reader.{ClusterReads, DynamicReaders}
import splice.kafka.dynamic.internal.settings.{ClusterSettings, DynamicSettings}
import splice.kafka.dynamic.internal.split.{DynamicOffset, DynamicPosition, DynamicSplitRange, PositionEntries}
import splice.kafka.dynamic.internal.state.{AppliedMetadata, ChangeEntries, DocumentEntries}
import splice.kafka.internal.admission.RecordSizes
import splice.kafka.internal.enumerator.{ClusterEnumerator, KafkaPlan}
import splice.kafka.internal.errors.KafkaErrors
import splice.kafka.internal.metrics.ReadReports
import splice.kafka.internal.pool.ReaderPool
import splice.source._
import splice.source.errors.{CheckpointErrors, SpliceException}
import splice.source.log.{LogPartitions, LogRange, Outlook}
import splice.source.runtime.{OpenEnded, ProgressMetric, Report}

/** Runs one enumerator per cluster, and applies metadata changes between batches (FLIP-246's
  * DynamicKafkaSourceEnumerator).
  *
  * The enumerator of each cluster stores its state in a separate scope of the side log, as if the cluster were the only
  * source. This enumerator stores changes in the entries `change-<n>` ([[ChangeEntries]]), and the position contains
  * the number of the applied change. A position that is too long for an offset is also an entry ([[PositionEntries]]).
  *
  * The query's thread uses [[ChangeEntries]] and [[PositionEntries]]. The thread of a [[ClusterWorker]] uses the cluster's
  * enumerator and the log objects of that enumerator, and publishes an immutable [[KafkaPlan]] for [[splits]].
  */
final private[splice] class DynamicEnumerator(
    settings: DynamicSettings,
    context: EnumeratorContext,
    discovery: MetadataDiscovery,
    make: (KafkaCluster, SortedSet[String], EnumeratorContext, ReadReports) => ClusterEnumerator,
    sizes: RecordSizes,
    reads: ClusterReads,
    await: ResponseWait = ResponseWait.InRealTime
) extends SplitEnumerator[DynamicOffset]
    with LogPartitions with OpenEnded[DynamicOffset] {

  private val changes = new ChangeEntries(context.sideLog)
  private val rules   = new ChangeRules(settings.removal)
  // Only calls of `readers` use this object.
  private val settingsOf = new ClusterSettings(settings)
  private val workers    = new ClusterWorkers(context.run, context.steady, await)({ (cluster, topics) =>
    val scope = scopes(cluster.name)
    val read  = reads(cluster.name)
    () => make(cluster, topics, scope(), read)
  })
  private val same   = new SameClusters(scopes(_))
  private val driver =
    new MetadataApplier(
      changes,
      rules,
      discovery,
      new DocumentEntries(context.sideLog),
      context.clock,
      context.steady
    )(settings.addedStart, planOf(_).topics, same.idOf)
  // Before the name of the cluster is stored, no position refers to a change, so a corrected document may replace it.
  private val takeover              = new SingleClusterCheckpoint(context.sideLog, driver.first(started = false))
  private val first                 = context.start.map(stored => DynamicPosition.read(stored.position))
  private val positions             = new PositionEntries(context.sideLog, first)
  private val scopes: ClusterScopes =
    new ClusterScopes(context, takeover)(stored => positionOf(DynamicPosition.read(stored)))
  private val plan      = new DynamicPlan(changes, planOf)
  private val opens     = new OpenClusters(planOf, settings.cutover, settings.base.ending.nonEmpty)
  private val missing   = new MissingTopics(context.steady)
  private val rounds    = new Rounds(settings, driver, workers, same, missing)
  private val patience  = new ClusterPatience(workers, settings.clusterTimeout, context.steady)
  private val admission = new ClusterAdmission(settings.base.admission, sizes)
  private val costs     = new ClusterCosts(sizes)
  private val aligned   = AlignedClusters.of(settings, admission, workers, context, reads.delay)
  private val reports   =
    new ClusterReports(context.steady, settings.cutover, settings.options(DynamicOptions.MaxGaugeTopics))
  private val hold = new RepeatedRequest(context.steady, settings.clusterTimeout)({ () =>
    pause()
    workers.renew(driver.reached(driver.current()).clusters)
  })

  private var frozen           = false
  private var reportedInactive = Set.empty[String]

  override def logRanges(history: SortedMap[LogPartition, Long]): SortedMap[LogPartition, LogRange] = {
    val first = begun()
    ClusterStart.check(history.keySet.map(_.topic), first.read)
    val values = request(first, _ => false) { (name, enumerator) =>
      enumerator.logRanges(ClusterStart.within(name, history).filter { case (p, _) => first.read(name)(p.topic) })
    }
    ClusterStart.rejectAbsent(first.read.keySet -- values.keySet)
    ClusterStart.merged(values, first.read)
  }

  override def firstTimes(start: Position): SortedMap[LogPartition, Instant] = {
    val at = positionOf(DynamicPosition.read(start.json))
    SortedMap.from(attempt(changes(at.change), always = true)((name, of) => of.firstTimes(at.of(name))).flatMap(_._2))
  }

  override def outlook(): Outlook = {
    val first    = begun()
    val outlooks = request(first, _ => false)((_, enumerator) => enumerator.outlook())
    new ClustersOutlook(outlooks, first.read.keySet -- outlooks.keySet)
  }

  override def start(at: StartPosition): DynamicOffset = {
    val first = begun()
    // A missing topic or a rejected login is more probably an error of the metadata than an outage.
    val responses = request(first, KafkaErrors.isUnreachable) { (name, enumerator) =>
      enumerator.start(ClusterStart(at, name, first.read(name)), settings.starts(name, first)) -> enumerator.clusterId
    }
    // No start is stored yet, so a corrected document may replace this document.
    SameClusters.reject(responses.toSeq.map { case (name, (start, id)) => (name, id, start.topics) })((_, _, _) => true)
    val starts = responses.map { case (name, (start, _)) => name -> start }
    if (at != StartPosition.Configured) ClusterStart.rejectAbsent(first.read.keySet -- starts.keySet)
    val start = DynamicPosition.of(first.number, starts)
    scopes.begin(start, at)
    positions.start(start)
  }

  private def begun(): AppliedMetadata = {
    val first = driver.reached(driver.first(started = context.start.nonEmpty))
    workers.follow(first, DynamicPosition.of(first.number, Nil))
    first
  }

  override def advance(from: DynamicOffset, limits: Limits): DynamicOffset = {
    val at = positionOf(from)
    reads.delay.next()
    val next = go(at, limits)
    if (next == at) from else positions.offset(next)
  }

  /** Plans the end of the next batch.
    *
    * @param patient
    *   true if the method waits for unavailable clusters
    */
  @tailrec private def go(at: DynamicPosition, limits: Limits, patient: Boolean = false): DynamicPosition = {
    val began    = context.clock.instant()
    val round    = rounds(at, frozen, patient, isOpen = false)
    val next     = advanced(round, limits, began)
    val waitsFor = driver.groups.waitsFor
    val partial  = round.silentPartitions
    // A run that ends with the records that exist at its start first reads the records of the available clusters. A
    // run of one batch cannot read the records of the other clusters later.
    val isLast = next == at || limits == Limits.Everything
    val isHeld = aligned.exists(_.isHeld)
    val waits  = frozen && isLast && (round.silent.nonEmpty || waitsFor.nonEmpty || partial.nonEmpty || isHeld)
    if (waits || settings.failWhenUnavailable)
      patience.check(round.silent.toSet, if (frozen) waitsFor else Set.empty, partial)
    if (waits) {
      pause()
      go(round.at, limits, patient = true)
    } else {
      aligned.foreach(_.warnHeld(isEnd = limits == Limits.Everything || frozen && next == at))
      next
    }
  }

  override def settle(from: DynamicOffset): DynamicOffset = {
    val at    = positionOf(from)
    val round = rounds(at, frozen, patient = false, isOpen = true)
    // A change applies at the position that the query had delivered. Before this position, a topic that the change
    // removed has rows that the batch does not read.
    if (round.at.change != at.change) DynamicErrors.rejectPassed(plan.splits(at, round.at))
    if (settings.failWhenUnavailable) patience.check(round.silent.toSet, Set.empty, round.silentPartitions)
    opens.settle(round, driver.groups.waitsFor.nonEmpty)
  }

  override def reached(settled: DynamicOffset, unread: Seq[SplitRange]): DynamicOffset = {
    val until = opens.reached(positionOf(settled), unread)
    workers.call(until)(_.storeUnread(_))
    positions.offset(until)
  }

  /** Groups of streams that wait, or that are rejected. */
  private[dynamic] def groups: WaitingGroups = driver.groups

  override def isStale: Boolean = opens.last.exists { batch =>
    import batch.applied
    // Only a new document changes this, and a new document makes a batch stale.
    batch.isPassing || driver.documents.isStale(applied) || workers.isStale(applied.isActive)
  }

  /** @param began the time before the requests of the round */
  private def advanced(round: Round, limits: Limits, began: Instant): DynamicPosition = {
    import round.{applied, at, responses}
    val open = responses.map { case (name, reach) =>
      val bound = UpperBound(applied, settings.cutover, name, at, reach.until, reach.places, reach.begin)
      name -> reach.within(bound, at.of(name))
    }
    def ofCluster(name: String) = applied.clusters.get(name).fold(Limits.NotSet)(settings.limits)
    val ends                    = aligned match {
      case None        => admission(limits, ofCluster, open)
      case Some(times) => times(limits, ofCluster, open, round.unheard(began), applied)
    }
    ends.fold(at)(_.foldLeft(at) { case (position, (name, until)) => position.updated(name, until) })
  }

  // This method reads only side-log objects of this thread, and plans that workers have published. Therefore the
  // method waits for no cluster.
  override def splits(from: DynamicOffset, until: DynamicOffset): Seq[SplitRange] =
    plan.splits(takeover.required(positions(from)), takeover.required(positions(until)))

  // A worker without a published plan has written no entry that a position of this run depends on.
  private def planOf(name: String): KafkaPlan =
    workers.find(name).flatMap(_.plan).getOrElse(KafkaPlan.read(scopes(name)()))

  override def replay(from: DynamicOffset, until: DynamicOffset): Unit = {
    val (at, to) = (positionOf(from), positionOf(until))
    val known    = driver.reached(changes.last.getOrElse(changes(to.change)))
    val requests = plan.spans(at, to).groupBy(_.cluster).to(SortedMap).toSeq.map { case (name, spans) =>
      def cluster = known.clusters.get(name).orElse(changes.cluster(name)).getOrElse(lost(name))
      def topics  = spans.flatMap(span => span.from.topics ++ span.until.topics).to(SortedSet)
      val worker  = workers.find(name).getOrElse(workers.worker(cluster, topics))
      name -> (() => worker.ahead(enumerator => spans.foreach(span => enumerator.replay(span.from, span.until))))
    }
    val _ = hold(requests)
  }

  override private[splice] def begun(ranges: Seq[SplitRange]): Unit =
    ranges.collect { case range: DynamicSplitRange => range }.groupMap(_.cluster)(_.range).foreach {
      case (name, own) => workers.find(name).foreach(_.begun(own))
    }

  override def readers(columns: StructType, ranges: Seq[SplitRange]): SplitReaderFactory =
    DynamicReaders(settingsOf, columns, context, ranges, sizes.within, reads(_).key) { name =>
      cluster(name).orElse(changes.cluster(name)).getOrElse(lost(name))
    }

  override def cost(range: SplitRange): Long = range match {
    case split: DynamicSplitRange => costs(split)
    case other                    => other.weight
  }

  override def isMember(at: DynamicOffset): String => Boolean =
    takeover.required(positions(at)).clusters.iterator.flatMap { case (name, position) =>
      position.offsets.keysIterator.map(p => s"$name/$p")
    }.toSet[String]

  override def evidence(at: DynamicOffset): Option[Evidence] =
    if (settings.base.ending.isEmpty) None
    else {
      val position = positionOf(at)
      val applied  = changes(position.change)
      workers.follow(driver.reached(applied), position)
      val end     = (name: String, enumerator: ClusterEnumerator) => enumerator.evidence(position.of(name))
      val known   = attempt(applied, always = false)(end)
      val isWhole = known.size == workers.active(applied).size
      // A run with a fixed end first reads the rows of the available clusters. It then waits for the other clusters.
      if (isUnread(known) || !isWhole && (!frozen || isUnread(attempt(applied, always = true)(end)))) None
      else {
        val ends = if (isWhole) known else request(applied)(end)
        if (isUnread(ends)) None else ended(at, ends.values.flatten.toSeq, applied.read.keySet -- ends.keySet)
      }
    }

  private def isUnread(ends: SortedMap[String, Option[Evidence]]) = ends.values.exists(_.isEmpty)

  /** Returns the evidence of the end. A stream waits until all clusters are active. A batch query fails, because it
    * would miss the records of inactive clusters.
    */
  private def ended(at: DynamicOffset, ends: Seq[Evidence], inactive: Set[String]): Option[Evidence] = {
    if (inactive.nonEmpty && context.mode == ReadMode.Batch) throw DynamicErrors.inactive(inactive)
    if (inactive.nonEmpty && inactive != reportedInactive)
      DynamicEnumerator.logger.warn(
        s"Inactive clusters: ${inactive.toSeq.sorted.mkString(", ")}. The query has read all other clusters, and waits."
      )
    reportedInactive = inactive
    Option.when(inactive.isEmpty)(Evidence(
      at,
      offsets = () => {
        val all = ends.flatMap(_.offsets())
        all.groupBy(_.partition).collectFirst { case (p, several) if several.size > 1 => p }.foreach { p =>
          throw KafkaErrors.cannotRespond(s"offsets of $p", "several clusters have a partition with this name")
        }
        all
      }
    ))
  }

  override def freeze(): Unit = {
    frozen = true
    workers.freeze()
  }

  override def committed(until: DynamicOffset): Unit = takeover.find(positions(until)).foreach { position =>
    workers.call(position)(_.committed(_))
    changes.purge(position.change)
  }

  // A run that begins after the end has no workers yet.
  override def commitEnd(at: DynamicOffset): Boolean = {
    committed(at)
    !settings.base.commitToGroup || {
      val position = positionOf(at)
      val applied  = driver.reached(changes(position.change))
      workers.follow(applied, position)
      val done = attempt(applied, always = false)((name, enumerator) => enumerator.commitEnd(position.of(name)))
      done.keySet == applied.read.keySet && done.values.forall(isDone => isDone)
    }
  }

  override def retain(oldest: DynamicOffset): Unit = takeover.find(positions(oldest)).foreach { position =>
    workers.call(position)(_.retain(_))
    positions.purge(oldest)
  }

  override def figures(at: DynamicOffset): SortedMap[String, String] =
    takeover.find(positions(at)).fold(SortedMap.empty[String, String]) { position =>
      val applied = changes(position.change)
      reports(position, applied, workers.all, discovery, driver.groups) ++ missing.figures ++
        aligned.map(ProgressMetric.RowsHeld -> _.rowsHeld.toString) ++
        reads.delay.millis.map(ProgressMetric.DelayNeeded -> _.toString)
    }

  override def limits(at: DynamicOffset): Limits.Limited           = settings.base.limits
  override def gauges(at: DynamicOffset): Iterable[(String, Long)] = reports.gauges(workers.all)
  override def open(settled: DynamicOffset): Seq[SplitRange]       = opens.open(positionOf(settled))
  override def reported(all: Seq[Report]): Unit                    = reads.add(all)
  override def staleInterval: Option[Duration]                     = Some(settings.base.discoveryInterval)
  override def stopped(last: => Option[DynamicOffset]): Unit = if (settings.base.commitToGroup) last.foreach(committed)

  override def close(): Unit =
    try discovery.close(workers.close())
    finally ReaderPool.release(context.run)

  private def positionOf(offset: DynamicOffset): DynamicPosition = takeover(positions(offset))

  private def cluster(name: String): Option[KafkaCluster] =
    workers.cluster(name).orElse(changes.last.flatMap(_.clusters.get(name)))

  private def lost(cluster: String): Nothing =
    throw CheckpointErrors.missingEntry(s"The cluster $cluster of a change")

  /** Sends a request to every active cluster at the same time, and waits for all responses, up to `clusterTimeout`.
    *
    * @param isRepeated
    *   true if a request is repeated after an error
    */
  private def request[A](applied: AppliedMetadata, isRepeated: SpliceException => Boolean = KafkaErrors.isOfCluster)(
      request: (String, ClusterEnumerator) => A
  ): SortedMap[String, A] = {
    val requests = workers.active(applied).toSeq.map { case (name, worker) =>
      name -> (() => worker.ahead(request(name, _)))
    }
    SortedMap.from(hold(requests, isRepeated))
  }

  private def attempt[A](applied: AppliedMetadata, always: Boolean)(
      request: (String, ClusterEnumerator) => A
  ): SortedMap[String, A] = workers.attempt(applied, settings.clusterWait, always)(_ => true)(request)

  private def pause(): Unit = TimeUnit.MILLISECONDS.sleep(settings.base.retryInterval.toMillis)
}

private[dynamic] object DynamicEnumerator {
  private val logger = LoggerFactory.getLogger(classOf[DynamicEnumerator])
}
