// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.enumerator

import scala.collection.immutable.{SortedMap, SortedSet}

import splice.kafka.lag.{LagBook, TaskReads}
import splice.kafka.options.{KafkaSettings, StartingOffsets}
import splice.kafka.split.{KafkaPosition, KafkaSplitRange}
import splice.kafka.{DataLoss, KafkaErrors}
import splice.source._

/** Finds a cluster's partitions and decides how far each batch reads them.
  *
  * Everything that a replay needs is in the position or in the side log: the first position (written down by the caller), the
  * ends of a bounded source ([[EndingLog]]), the starts of partitions found later ([[StartLog]]), and which cluster and
  * topics these numbers belong to ([[IdentityLog]]).
  */
final private[splice] class KafkaEnumerator(
    settings: KafkaSettings,
    context: EnumeratorContext,
    log: LogMetadata,
    discovery: Discovery,
    looks: SecondLook,
    reads: () => TaskReads = () => TaskReads()
) extends SplitEnumerator {

  private val loss       = DataLoss(settings.failOnDataLoss)
  private val startLog   = new StartLog(context.sideLog)
  private val endingLog  = new EndingLog(context.sideLog, log, context.mode)
  private val identity   = new IdentityLog(context.sideLog, settings.client.servers)
  private val membership = new Membership(settings, discovery, identity, looks, loss)
  private val watch      = new EndWatch(log, looks, loss)
  private val lag        = new LagBook
  private val sizes      = new RecordSizes
  private val sharing    = new Sharing(settings.admission, log, sizes, context.clock)

  private var frozen: Option[KafkaPosition] = None
  private var checked: Set[LogPartition]    = Set.empty

  override def start(at: StartPosition): KafkaPosition = {
    val partitions = membership.first(at match {
      case StartPosition.Offsets(offsets, _) => offsets.keySet
      case _                                 => Set.empty
    })
    membership.requireAll()
    if (context.mode == ReadMode.Batch && at == StartPosition.Configured) BatchBounds.refuse(configuredStart)
    val resolver = new StartResolver(log, loss, looks, settings.client.group)
    val begin    = at match {
      case StartPosition.Configured        => resolver.configured(configuredStart, partitions)
      case wanted: StartPosition.Offsets   => resolver.handed(wanted, partitions)
      case wanted: StartPosition.Timestamp => resolver.handed(wanted, partitions)
    }
    // Where a bounded source began is written down with its end, and holds if a crash made nobody hear of it.
    settings.ending.fold(begin) { ending =>
      val entry = endingLog.resolve(ending, begin, partitions)
      if (context.mode == ReadMode.Batch) BatchBounds.refuse(entry)
      entry.start
    }
  }

  override def limits(at: Progress): ReadLimits = settings.limits

  override def advance(from: Progress, limits: ReadLimits): Progress = {
    val at     = KafkaPosition.from(from)
    val there  = membership.partitions(at)
    val ending = settings.ending.map(endingLog.resolve(_, at, there).end)
    val within = reach(there, ending)
    val begun  = at ++ startLog.starts(within -- at.offsets.keySet)(log.earliest)
    val ends   = ending.foldLeft(endsOf(begun, within))(cut(begun))
    val ready  = begun.offsets.collect { case (p, offset) if ends.contains(p) => p -> (offset -> ends(p)) }
    val rows   = ready.valuesIterator.map { case (offset, end) => math.max(end - offset, 0L) }.sum
    val until  =
      if (limits.minRows.exists(rows < _)) begun
      else begun ++ sharing(limits, ready)
    if (until == at) from else until
  }

  override def splits(from: Progress, until: Progress): Seq[SplitRange] = {
    val (at, to) = (KafkaPosition.from(from), KafkaPosition.from(until))
    // A replay is planned before anything else, and must not read a topic that was created again as if it were the old one.
    if (at != to) membership.once(to)
    val starts = at.offsets ++ startLog.starts((to.offsets.keySet -- at.offsets.keySet).toSet)(log.earliest)
    to.offsets.iterator.flatMap { case (p, end) =>
      starts.get(p).filter(_ < end).map(KafkaSplitRange(p, _, end))
    }.toSeq
  }

  override def cost(range: SplitRange): Long = range match {
    case own: KafkaSplitRange => sizes.cost(own.partition.topic, own.weight)
    case other                => other.weight
  }

  override def isMember(at: Progress): String => Boolean = {
    val there = membership.known
    KafkaPosition.from(at).offsets.keysIterator.filter(p => there.forall(_(p))).map(_.toString).toSet
  }

  override def end(at: Progress): Option[EndState] = settings.ending.flatMap { ending =>
    val position = KafkaPosition.from(at)
    val entry    = endingLog.resolve(ending, position, membership.partitions(position))
    val reached  = entry.end.offsets.forall { case (p, end) => position.get(p).exists(_ >= end) }
    if (reached) Some(new KafkaEndState(entry, position)) else None
  }

  override def freeze(): Unit = {
    val partitions = membership.first()
    frozen = Some(KafkaPosition.of(watch.ends(KafkaPosition.Empty, partitions)(())))
  }

  override def committed(until: Progress): Unit = ()

  override def report(at: Progress): SortedMap[String, String] = {
    val position = KafkaPosition.from(at)
    val told     = reads()
    told.partitions.foreach { case (p, read) => sizes.learn(p.topic, read.rows, read.bytes) }
    lag.look(position.offsets, watch.last, told, context.clock.instant()).report ++ told.report ++ Seq(
      ProgressMetric.Position -> shown(position),
      ProgressMetric.Splits   -> position.offsets.size.toString
    )
  }

  override def close(): Unit = {
    discovery.close()
    log.close()
  }

  private def configuredStart: StartingOffsets = settings.start.getOrElse(context.mode match {
    case ReadMode.Stream => StartingOffsets.Latest
    case ReadMode.Batch  => StartingOffsets.Earliest
  })

  /** The partitions that this run may read: a bounded source's and a frozen run's were fixed when it began. */
  private def reach(there: SortedSet[LogPartition], ending: Option[KafkaPosition]): Set[LogPartition] = {
    val fixed = ending.toSeq ++ frozen
    fixed.foldLeft(there.toSet)((some, position) => some.filter(position.offsets.contains))
  }

  private def endsOf(at: KafkaPosition, partitions: Set[LogPartition]): Map[LogPartition, Long] = frozen match {
    case None       => live(at, partitions)
    case Some(ends) =>
      // A frozen end below the position is how a leg looks that began after the ends were taken, or a log that lost records.
      val below = partitions.filter(p => at.get(p).exists(offset => ends.get(p).exists(_ < offset))) -- checked
      checked ++= below
      val lowered = live(at, below).filter { case (p, end) => at.get(p).exists(_ > end) }
      partitions.iterator.flatMap(p => ends.get(p).map(end => p -> math.max(end, at.get(p).getOrElse(end)))).toMap ++
        lowered
  }

  private def live(at: KafkaPosition, partitions: Set[LogPartition]): Map[LogPartition, Long] =
    if (partitions.isEmpty) Map.empty
    else
      try watch.ends(at, partitions) { val _ = membership.look(at) }
      catch {
        // A deleted topic has no leader to answer, which looks like a broker that is away.
        case e: SpliceException if KafkaErrors.isUnreachable(e) =>
          val left = partitions.intersect(membership.look(at))
          if (left == partitions) throw e
          live(at, left)
      }

  /** Ends no later than a bounded source's; an end below the position stays, since it tells of records that were lost. */
  private def cut(at: KafkaPosition)(ends: Map[LogPartition, Long], ending: KafkaPosition): Map[LogPartition, Long] =
    ends.map { case (p, end) =>
      val offset = math.min(at.get(p).getOrElse(end), end)
      p -> math.max(offset, math.min(end, ending.get(p).getOrElse(end)))
    }

  private def shown(position: KafkaPosition): String =
    if (position.json.length <= 80) position.json
    else {
      val topics = position.offsets.keysIterator.map(_.topic).distinct.size
      s"${position.offsets.size} partitions of $topics topics, ${position.offsets.valuesIterator.sum} offsets"
    }
}
