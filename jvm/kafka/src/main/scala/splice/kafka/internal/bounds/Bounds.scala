// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.bounds

import scala.collection.immutable.{SortedMap, SortedSet}

import splice.kafka.Place
import splice.kafka.internal.cluster.ClusterAccess
import splice.kafka.internal.errors.{MissingRange, SkippedRows}
import splice.kafka.internal.identity.{Generation, Settled, Topics}
import splice.kafka.internal.options.KafkaSettings
import splice.kafka.internal.split.{KafkaPosition, KafkaSplitRange}
import splice.source.{EnumeratorContext, LogPartition, OffsetRanges, ReadMode, StartPosition}

/** The offsets at which the partitions of a cluster begin and end, in a batch and in the query. A method
  * that decides an offset stores the offset before the method returns.
  *
  * @param lastEnds
  *   the last ends of partitions
  * @param skipped
  *   counts the rows that the policies skip
  */
final private[splice] class Bounds(
    settings: KafkaSettings,
    context: EnumeratorContext,
    cluster: ClusterAccess,
    topics: Topics,
    lastEnds: EndOffsets,
    skipped: SkippedRows
) {

  private val client    = cluster.client
  private val policies  = settings.policies
  private val retention = new Retention(client, policies.outOfRange, skipped)
  private val resolver  =
    new StartResolver(
      client,
      retention,
      cluster.recheck,
      settings.client.group,
      policies.newPartitions,
      settings.prefix
    )
  private val ends = new LogEnds(client, topics, lastEnds, cluster.unavailable)

  /** The starts of partitions that were found while the query ran. */
  val starts = new StartEntries(context.sideLog)

  /** The ranges that the query skips. */
  val skips = new SkipEntries(context.sideLog)

  private lazy val unreadEntries = new UnreadEntries(context.sideLog)

  private val endings = new EndingEntries(context, client, resolver, starts, () => passed, extend)

  // A batch read has no later run that could continue. A run of a stream must not read records after its start.
  private def extend(later: Map[LogPartition, Long]): Unit = if (context.mode == ReadMode.Batch) ends.extend(later)

  private var limits = KafkaPosition.Empty
  private var unread = Set.empty[String]

  private var holes = Fills.of(context.start)
  private var later = Map.empty[String, Vector[Generation]]
  private val gaps  = new RetentionGaps(cluster.earliest, skips, () => fills, retention, lastEnds)

  /** The holes of the start. */
  def fills: Fills = {
    val known = topics.identities
    if (known.later ne later) {
      holes = holes.continued(known)
      later = known.later
    }
    holes
  }

  /** Resolves the start of the query, and the end of a bounded source. The caller stores the start.
    *
    * @param of
    *   starts of single topics, which replace the start in the options
    */
  def start(at: StartPosition, of: Map[String, Place]): KafkaPosition = {
    val wanted = at match {
      case exact: StartPosition.Offsets => exact.starts
      case _                            => SortedMap.empty[LogPartition, OffsetRanges]
    }
    // A history may end after the end of the batch, in which case the batch reads nothing from the partition.
    val checksBounds = context.mode == ReadMode.Batch && at == StartPosition.Configured
    if (checksBounds)
      (configured +: of.values.toSeq).foreach(BatchBounds.reject(_, settings.ending, settings.prefix))
    val partitions = topics.first(wanted.keySet)
    topics.requireAll()
    val begin = at match {
      case StartPosition.Configured => resolver.configured(configured, of, partitions)
      case _: StartPosition.Offsets => resolver.exactly(wanted, partitions)
      case time: StartPosition.Time => resolver.handed(time, partitions)
      case other                    => throw new IllegalStateException(s"a source of topics cannot begin at $other")
    }
    val start = topics.begin(begin)
    holes = Fills.of(start, wanted)
    settings.ending.foreach { ending =>
      val entry = endings.begin(ending, start, partitions)
      if (checksBounds) BatchBounds.reject(entry, settings.prefix)
    }
    start
  }

  private def configured: Place = settings.start.getOrElse(context.mode match {
    case ReadMode.Stream => Place.Latest
    case ReadMode.Batch  => Place.Earliest
  })

  /** The starts of partitions that are new to the query. Without `start`, the option `newPartitionsStartAt` applies. */
  def newStarts(of: Set[LogPartition], start: Option[Place]): Map[LogPartition, Long] =
    start.fold(client.starts(policies.newPartitions, of))(resolver.configured(_, Map.empty, SortedSet.from(of)).offsets)

  /** True if the source is bounded, or the ends of the run are fixed. */
  def hasEnd: Boolean = ends.isFrozen || settings.ending.nonEmpty

  /** Fixes the current ends for the run. */
  def freeze(): Unit = ends.freeze()

  /** The end of a bounded source, if a run has stored an end. */
  def end: Option[KafkaPosition] = endings.end

  /** Returns the end of a bounded source and its start. If no end is stored, or if the source has passed the stored end
    * in a run without an end, resolves and stores the end.
    *
    * @param at
    *   the position of the source
    */
  def resolve(ending: Place, at: KafkaPosition, partitions: => SortedSet[LogPartition]): EndingEntries.Entry =
    endings.resolve(ending, at, partitions)

  /** The offsets before the end of a bounded source that no batch reads. The history has the offsets between holes.
    *
    * @param removed
    *   the unread offsets of topics that were removed
    */
  def unread(removed: SkippedRanges): SkippedRanges = {
    val all = for {
      ((p, generation), skips) <- (passed ++ removed).continued(topics.identities).all.iterator
      skip                     <- skips
      (from, until)            <- fills.read(p, generation, skip.from, skip.until).ranges
    } yield (p, generation, SkippedRanges.Skip(from, until))
    all.foldLeft(SkippedRanges()) { case (ranges, (p, generation, skip)) => ranges.including(p, generation, skip) }
  }

  /** All offsets that no batch reads, including offsets whose skip entries were removed. */
  private def passed: SkippedRanges = unreadEntries.known ++ skips.known

  /** Stores offsets that no batch reads, if the source is bounded.
    *
    * @param at
    *   the position of the source
    */
  def addUnread(ranges: Seq[MissingRange], at: KafkaPosition): Unit = keepUnread(SkippedRanges.of(ranges, at))

  /** Stores offsets that readers have skipped, if the source is bounded. Any thread may call this method. */
  def addSkipped(ranges: Seq[KafkaSplitRange]): Unit = keepUnread(SkippedRanges.of(ranges))

  /** Stores offsets that readers have skipped in committed batches, if the source is bounded. */
  def addCommitted(ranges: Seq[KafkaSplitRange]): Unit =
    if (settings.ending.nonEmpty) unreadEntries.addCommitted(SkippedRanges.of(ranges))

  /** Notes that tasks read ranges of a bounded source, so that an earlier read of these ranges does not count. Any thread
    * may call this method.
    */
  def begun(ranges: Seq[KafkaSplitRange]): Unit =
    if (settings.ending.nonEmpty) unreadEntries.begun(SkippedRanges.of(ranges))

  /** Removes the skip entries that no batch from `oldest` on needs. */
  def retain(oldest: KafkaPosition): Unit = skips.retain(oldest)(keepUnread(_))

  private def keepUnread(ranges: => SkippedRanges): Unit = if (settings.ending.nonEmpty) unreadEntries.add(ranges)

  /** True if a partition has been read to its end in the run or in the source. */
  def isDone(at: KafkaPosition, p: LogPartition): Boolean = {
    val end = (ends.fixed(p) ++ endings.end.flatMap(_.get(p))).minOption
    at.get(p).exists(offset => end.exists(_ <= offset))
  }

  /** Replaces the ends of topics that were recreated.
    *
    * @param before
    *   the position before the comparison with the cluster
    */
  def renew(before: KafkaPosition, settled: Settled): Unit = {
    val now = settled.position
    if (now.generations != before.generations)
      ends.renew(now.topics.filter(t => now.generation(t) != before.generation(t)), settled.partitions)
  }

  /** Sets the offsets up to which topics are read, and the topics that are not read. Replaces the values of earlier
    * calls.
    */
  def limit(ends: KafkaPosition, without: Set[String]): Unit = {
    limits = ends
    unread = without
  }

  /** The end of a partition in the source, or `Long.MaxValue`. A partition is not read if the source has other ends
    * only, or if its topic has other limits only.
    */
  private def last(begun: Begun)(p: LogPartition): Long = {
    val end       = begun.end.fold(Long.MaxValue)(_.get(p).getOrElse(0L))
    val isLimited = limits.hasTopic(p.topic) && limits.generation(p.topic) == begun.position.generation(p.topic)
    if (unread(p.topic)) 0L else if (isLimited) math.min(end, limits.get(p).getOrElse(0L)) else end
  }

  /** Begins a batch: determines its partitions, and stores the starts of new partitions. */
  def begin(settled: Settled): Begun = {
    val Settled(position, existing) = settled
    val ending                      = settings.ending.map(resolve(_, position, existing).end)
    val within                      = ends.reach(existing, ending)
    val added                       = starts.starts(within -- position.offsets.keySet, position)(cluster.starts)
    Begun(gaps.known(position ++ added), within, ending)
  }

  /** Returns the offsets that a batch may read. Skips records that are no longer in the log. Returns None if a discovery
    * during this call has changed the position.
    */
  def available(begun: Begun): Option[Available] = {
    val Begun(position, within, ending) = begun
    val behind                          = gaps.behind(position, within)
    ends.of(position, within).map { now =>
      val most  = ending.foldLeft(now)(ends.cut(position))
      val start = gaps.pass(position, most, last(begun), behind)
      val open  = gaps.reached(position, start, most).filterNot { case (p, _) => cluster.unavailable.isSilent(p) }
      Available(start, open)
    }
  }

  /** The start of a batch without ends, after the records that retention has removed. */
  def pass(begun: Begun): KafkaPosition = {
    val position = begun.position
    // Each log may have records after any position.
    val ends = position.offsets.transform((_, _) => Long.MaxValue)
    gaps.pass(position, ends, last(begun), position.offsets.keySet.filter(topics.reads))
  }
}

/** The begin of a batch.
  *
  * @param position
  *   the position with the starts of new partitions, after the ranges that are already skipped
  * @param partitions
  *   the partitions that the batch may read
  * @param end
  *   the end of a bounded source
  */
final private[splice] case class Begun(
    position: KafkaPosition,
    partitions: Set[LogPartition],
    end: Option[KafkaPosition]
)

/** The offsets that a batch may read.
  *
  * @param ends
  *   the ends of the partitions that respond
  */
final private[splice] case class Available(start: KafkaPosition, ends: Map[LogPartition, Long])
