// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.hybrid.internal.enumerator

import java.time.Duration
import java.util.concurrent.ScheduledExecutorService

import scala.annotation.tailrec
import scala.collection.immutable.SortedMap

import org.apache.spark.sql.types.StructType
import org.slf4j.LoggerFactory

import splice.hybrid.internal.chain.{Chain, Leg, LegEnumerators}
import splice.hybrid.internal.errors.HybridErrors
import splice.hybrid.internal.handover.{HandOverDecision, LegEntries, SwitchDelay}
import splice.hybrid.internal.history.LegOffsets
import splice.hybrid.internal.plan.{ChainPlan, RetentionMargin}
import splice.hybrid.internal.reader.{HybridReaders, LegReaders}
import splice.hybrid.internal.schema.LegSelects
import splice.hybrid.internal.split.{HybridPosition, LegRange, LegSpan}
import splice.hybrid.internal.tally.Tallies
import splice.source._
import splice.source.internal.legs.{LegIdentity, LegPlan, SkippingLeg}
import splice.source.log.LogPartitions
import splice.source.runtime.{OpenEnded, Report}

/** Drives the legs of a chain in sequence (FLIP-150's HybridSourceSplitEnumerator).
  *
  * The enumerator of a leg is created at its first use. After the end of a leg, the next `advance` evaluates the
  * hand-over rule of the next leg and stores the switch. The same call continues in the next leg. The offset names the
  * leg, so a switch is progress even if the new leg has no rows yet. The enumerator of an ended leg is closed when a
  * batch of a later leg is committed, and is recreated only for a span that begins in the ended leg.
  */
final private[splice] class HybridEnumerator(
    written: Chain,
    selects: => LegSelects,
    context: EnumeratorContext,
    timer: ScheduledExecutorService = RetentionMargin.timer()
) extends SplitEnumerator[HybridPosition]
    with OpenEnded[HybridPosition] {

  private val log         = new LegEntries(context.sideLog, written)
  private val chain       = log.chain
  private lazy val first  = context.start.map(stored => HybridPosition.parse(chain, stored.position))
  private val enumerators = new LegEnumerators(chain, context)(stored)
  private val tallies     = new Tallies(chain, context, enumerators, log.hasEnded(_), requested)
  private val commits     = new LegCommits(chain, log, enumerators)
  private var isFrozen    = false
  private var frozen      = Set.empty[String]
  private var hasWarned   = false
  private val margin      = new RetentionMargin(chain, context, enumerators, timer)
  private val figuresOf   = new ChainFigures(chain, log, enumerators, margin)

  // Start of the last batch of this run.
  private var begins: Option[HybridPosition] = None

  // End of the last batch of this run; None while a real-time batch is read.
  private var planned: Option[HybridPosition] = None

  // Leg of the current real-time batch.
  @volatile private var reading: Option[OpenEnded[Position]] = None

  log.warnOfChangedRules()
  log.warnOfMissingCommits()

  override def start(at: StartPosition): HybridPosition = {
    tallies.checkColumns()
    HybridPosition.first(chain, enumerators(chain.first)(_.start(at)))
  }

  // A leg without limits must not remove the limits of the next leg.
  @tailrec override def limits(at: HybridPosition): Limits.Limited =
    following(at).flatMap(begun(at, _)) match {
      case Some(next) => limits(next)
      case None       => enumerators(chain(at.leg))(_.limits(at.position))
    }

  @tailrec override def advance(from: HybridPosition, limits: Limits): HybridPosition = {
    if (limits == Limits.Everything) warnOfOneBatch()
    begin(from)
    from.current.foreach(leg => tallies.advanced(chain(leg), isStart(from)))
    switched(from) match {
      case Some(begun) => advance(begun, if (limits == Limits.Everything) limits else this.limits(begun))
      case None        =>
        val until = from.moved(enumerators(chain(from.leg))(_.advance(from.position, limits)))
        begins = Some(from)
        planned = Some(until)
        margin.follow(chain(from.leg))
        until
    }
  }

  override private[splice] def unsupportedLeg: Option[LegIdentity] =
    chain.legs.dropWhile(log.hasEnded(_)).find(leg => openLeg(leg).isEmpty).map { leg =>
      LegIdentity(Some(leg.name), leg.source.kind, None)
    }

  override private[splice] def skippingLeg: Option[SkippingLeg] =
    chain.legs.filter(leg => tallies.isCounted(leg) && !log.hasEnded(leg)).map { leg =>
      SkippingLeg(leg.name, leg.source.skipSettings)
    }.find(_.settings.nonEmpty)

  /** Decides and stores the hand-over as [[advance]] does. */
  @tailrec override def settle(from: HybridPosition): HybridPosition = {
    planned = None
    begin(from)
    from.current.foreach(leg => tallies.advanced(chain(leg), isStart(from)))
    switched(from) match {
      case Some(begun) => settle(begun)
      case None        =>
        reading = Some(open(from.leg))
        margin.follow(chain(from.leg))
        from.moved(onOpen(from.leg)(_.settle(from.position)))
    }
  }

  override def open(settled: HybridPosition): Seq[SplitRange] = {
    begins = Some(settled)
    onOpen(settled.leg)(_.open(settled.position)).map(LegRange(settled.leg, _))
  }

  override def reached(settled: HybridPosition, unread: Seq[SplitRange]): HybridPosition = {
    val ranges = unread.collect { case LegRange(leg, range) if leg == settled.leg => range }
    val until  = settled.moved(onOpen(settled.leg)(_.reached(settled.position, ranges)))
    planned = Some(until)
    until
  }

  private def open(leg: String): OpenEnded[Position] =
    openLeg(chain(leg)).getOrElse(throw new IllegalStateException(s"leg '$leg' does not support open-ended ranges"))

  /** Calls the enumerator of a leg with open-ended ranges. Adds the name of the leg to an error of its source. */
  private def onOpen[A](leg: String)(call: OpenEnded[Position] => A): A = chain(leg).errors(call(open(leg)))

  private def openLeg(leg: Leg): Option[OpenEnded[Position]] = enumerators(leg) {
    case inner: OpenEnded[Position @unchecked] => Some(inner)
    case _                                     => None
  }

  override def splits(from: HybridPosition, until: HybridPosition): Seq[SplitRange] =
    LegSpan.between(chain, log, from, until).flatMap { span =>
      enumerators(span.leg)(_.splits(span.from, span.until)).map(LegRange(span.leg.name, _))
    }

  override def replay(from: HybridPosition, until: HybridPosition): Unit = {
    begin(from)
    LegSpan.between(chain, log, from, until).foreach { span =>
      enumerators(span.leg)(_.replay(span.from, span.until))
    }
    begins = Some(from)
    planned = Some(until)
  }

  // Each report has the name of its enumerator.
  override def reported(reports: Seq[Report]): Unit = {
    tallies.reported(reports)
    enumerators.foreach((_, inner) => inner.reported(reports))
  }

  // Spark has logged the batch, so no other driver writes counts.
  override private[splice] def begun(ranges: Seq[SplitRange]): Unit =
    ranges.collect { case range: LegRange => range }.groupMap(_.leg)(_.range).foreach { case (leg, own) =>
      tallies.begun(chain(leg), begins.exists(at => !at.current.contains(leg) || isStart(at)), own)
      enumerators.ifOpen(leg)(_.begun(own))
    }

  override def readers(columns: StructType, ranges: Seq[SplitRange]): SplitReaderFactory = {
    val byLeg = ranges.collect { case range: LegRange => range }.groupBy(_.leg)
    new HybridReaders(byLeg.map { case (name, legRanges) =>
      val leg    = chain(name)
      val select = selects.compile(leg, columns, context.session)
      name -> LegReaders(leg, select, tallies.plan(leg, select.columns)) { columns =>
        enumerators(leg)(_.readers(columns, legRanges.map(_.range)))
      }
    })
  }

  // A plan counts all columns, because a plan does not know the query.
  private def requested(leg: Leg): StructType =
    selects.compile(leg, context.columns.getOrElse(selects.all), context.session).columns

  override def cost(range: SplitRange): Long = range match {
    case LegRange(leg, inner) => enumerators.ifOpen(leg)(_.cost(inner)).getOrElse(inner.weight)
    case other                => other.weight
  }

  // Previous legs have ended and later legs have no splits yet, so only the current leg has members.
  override def isMember(at: HybridPosition): String => Boolean = at.current.fold((_: String) => true) { leg =>
    val inner  = enumerators.ifOpen(leg)(_.isMember(at.position)).getOrElse((_: String) => true)
    val prefix = s"$leg/"
    split => split.startsWith(prefix) && inner(split.drop(prefix.length))
  }

  override def evidence(at: HybridPosition): Option[Evidence] =
    if (at.current.contains(chain.last.name))
      enumerators(chain.last)(_.evidence(at.position)).map(_.copy(position = at))
    else None

  // The storage of ended legs may be unavailable.
  override def freeze(): Unit = {
    isFrozen = true
    chain.legs.dropWhile(log.hasEnded(_)).foreach(freeze)
  }

  private def freeze(leg: Leg): Unit = if (!frozen(leg.name)) {
    enumerators(leg)(_.freeze())
    frozen += leg.name
  }

  override def committed(until: HybridPosition): Unit = until.current.foreach { current =>
    for (leg <- chain.between(chain.first.name, current) if leg.name == current || !leg.source.readsLog)
      enumerators.ifOpen(leg.name)(_.committed(until.position(leg.name)))
    commits.passOn(until, current)
    enumerators.closeBefore(current)
  }

  override def retain(oldest: HybridPosition): Unit =
    enumerators.foreach((leg, inner) => oldest.find(leg).foreach(inner.retain))

  override def stopped(last: => Option[HybridPosition]): Unit = {
    lazy val at = last
    if (tallies.hasNews) tallies.stopped(all = planned.exists(at.contains))
    enumerators.foreach((leg, inner) => inner.stopped(at.flatMap(_.find(leg))))
    if (commits.isMissing) at.foreach(until => until.current.foreach(commits.passOn(until, _)))
  }

  override def figures(at: HybridPosition): SortedMap[String, String] = {
    tallies.committed(all = planned.contains(at))
    figuresOf(at)
  }

  /** @throws SpliceException
    *   if the switch to the current leg is missing. The source of the leg would not know its start and its holes
    */
  private def begin(at: HybridPosition): Unit = {
    figuresOf.see(at)
    at.current.map(chain(_)).filterNot(isFirst(at, _)).foreach(log.requiredStart)
  }

  /** True if no hand-over has begun the current leg. The legs after the first leg of the query may have been removed. */
  private def isFirst(at: HybridPosition, leg: Leg): Boolean =
    at.hasOneLeg || log.start(leg).isEmpty && first.exists(_.text(leg.name).nonEmpty)

  /** True if no row of the current leg is read before the position. */
  private def isStart(at: HybridPosition): Boolean =
    at.current.flatMap(leg => stored(chain(leg))).exists(_.position == at.position.json)

  override def gauges(at: HybridPosition): Iterable[(String, Long)] =
    at.current.flatMap(enumerators.ifOpen(_)(_.gauges(at.position))).getOrElse(Nil)

  override def isStale: Boolean                = reading.exists(_.isStale)
  override def staleInterval: Option[Duration] = reading.flatMap(_.staleInterval)
  override def close(): Unit                   = try margin.close()
  finally enumerators.close()

  /** Plan of a query that starts now. The caller discards the side log of this run. */
  private[hybrid] def plan(scan: Boolean): Seq[LegPlan] = {
    freeze()
    new ChainPlan(
      chain,
      context.sideLog,
      enumerators,
      switched(_, count = scan),
      tallies.columns,
      scan,
      context.clock.instant()
    )(start(StartPosition.Configured))
  }

  /** Leg after the current leg. */
  private def following(at: HybridPosition): Option[Leg] =
    at.current.fold(Option(chain.first))(leg => chain.after(chain(leg)))

  /** Start of the next leg, if the current leg has ended and is not the last leg.
    *
    * @param count
    *   true if the rows of the ending leg are counted for this rule or a later rule
    */
  private def switched(at: HybridPosition, count: Boolean = true): Option[HybridPosition] = following(at).flatMap {
    next =>
      begun(at, next).orElse {
        val leg = chain(at.leg)
        // The hand-over of the leg may be stored although the position is before the end of the leg.
        if (isFrozen) freeze(leg)
        enumerators(leg)(_.evidence(at.position)).map { evidence =>
          val start = log.switch(next) match {
            case None => decide(at, leg, next, evidence, count)
            // After a rollback, a log may end at another position. The stored switch remains in force.
            case Some(switch) if leg.source.readsLog => switch.start
            case Some(switch) => throw HybridErrors.otherEnd(leg.name, next.name, switch.ended, at.position.json)
          }
          at.switched(next.name, start)
        }
      }
  }

  /** Decides and stores the switch to `next`, and returns the start of the leg. */
  private def decide(at: HybridPosition, leg: Leg, next: Leg, evidence: Evidence, count: Boolean): Position = {
    val end      = if (count) tallies.ended(leg, at.position, evidence) else evidence
    val decision =
      HandOverDecision.decide(leg, next, end, context.clock.instant())(history(at, next), partitions(next))
    // The switch is stored only after the source of the next leg has accepted the start. A restart can therefore change
    // a failing rule.
    val start  = enumerators(next)(_.start(decision.start))
    val delay  = SwitchDelay(next, end)(onLog(next)(_.firstTimes(start)))
    val switch = log.switch(next, leg, at.position, decision.copy(delay = delay), start)
    if (switch.start != start || switch.fill != decision.fill) reopen(next)
    switch.start
  }

  /** Discards the enumerator of a leg, because another driver stored the switch to the leg first. */
  private def reopen(leg: Leg): Unit = {
    enumerators.discard(leg)
    frozen -= leg.name
    if (isFrozen) freeze(leg)
  }

  /** Stored start of a leg, if any. The first leg of the chain may have begun after a removed leg. */
  private def stored(leg: Leg): Option[StoredStart] =
    log.switch(leg).map(_.stored).orElse(first.flatMap(_.text(leg.name)).map(StoredStart(_)))

  /** Start of the next leg, if the switch is stored for the end of the previous leg.
    *
    * @throws SpliceException
    *   if rows between `at` and that end are in a leg that was removed from the chain
    */
  private def begun(at: HybridPosition, next: Leg): Option[HybridPosition] = log.switch(next).flatMap { switch =>
    if (at.text(switch.after).contains(switch.ended)) Some(at.switched(next.name, switch.start))
    else if (at.current.contains(switch.after)) None
    else throw HybridErrors.removedLeg(Seq(switch.after), at.json)
  }

  /** Calls the log of the next leg during a hand-over. Adds the name of the leg to an error of its source. */
  private def onLog[A](next: Leg)(call: LogPartitions => A): A = enumerators(next) {
    case log: LogPartitions => next.errors(call(log))
    case other              => throw new IllegalStateException(s"$other of leg '${next.name}' has no partitions")
  }

  private def partitions(next: Leg): LogPartitions = history => onLog(next)(_.logRanges(history))

  private def history(at: HybridPosition, next: Leg): Seq[LegOffsets] = {
    // A leg that begins by a position has no topics.
    def topics =
      if (next.source.beginsByOffsets) partitions(next).logRanges(SortedMap.empty).keys.map(_.topic).toSeq.distinct
      else Nil
    tallies.history(next, at, topics) { leg =>
      val end = enumerators(leg)(_.evidence(at.position(leg.name)))
      end.getOrElse(throw new IllegalStateException(s"leg '${leg.name}' has not ended at ${at.position(leg.name)}"))
    }
  }

  private def warnOfOneBatch(): Unit =
    if (!hasWarned && context.mode == ReadMode.Stream && chain.legs.size > 1) {
      hasWarned = true
      HybridEnumerator.logger.warn(
        "This trigger runs one batch, which stops at the end of the current leg. Use Trigger.AvailableNow to read all legs."
      )
    }
}

private object HybridEnumerator {
  private val logger = LoggerFactory.getLogger(classOf[HybridEnumerator])
}
