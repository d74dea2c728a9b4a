// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.simulation

import splice.hybrid.HandOver
import splice.hybrid.internal.chain.OnHoles
import splice.kafka.internal.split.KafkaPosition
import splice.source.LogPartition
import splice.source.errors.SpliceException
import splice.source.internal.entries.Json
import splice.source.options.FailOrWarn
import splice.testkit.internal.simulation.{ArchivedRow, SimulatedCluster}
import splice.testkit.simulation.Violation

/** Row that a source had at some time.
  *
  * @param record
  *   cluster, partition and offset of the row in a log; None for a row of a file
  */
final case class VisibleRow(id: Long, record: Option[(SimulatedCluster, LogPartition, Long)])

/** Computes the expected rows of a chain from the content of its sources only, independent of reports of the query. */
final class ChainOracle(world: ChainWorld, moves: ChainMoves) {

  /** Rows of the archives at their listing. */
  def history: Seq[ArchivedRow] = world.folders.flatMap(f => listed(f.name))

  /** Rows that the query must deliver. */
  def required: Set[Long] = {
    val all = history.map(_.id).toSet ++ logRows(world.old, whole, moment) ++ migrated -- moves.excused(known) --
      (world.archiver.skipped & world.old.removed)
    val inArchive = supplied
    all.filter(id => inArchive(id) || !(moves.mayBeLost(id) || isUnnamed(id)))
  }

  /** True if a row was removed before the switch, and no archive has its partition. A user-defined rule that returns
    * no offset for the partition accepts a read from its first record.
    */
  private def isUnnamed(id: Long): Boolean = world.plan.shape == Shape.Custom &&
    moves.removedBefore(id).exists(p => !history.exists(row => LogPartition(row.topic, row.partition) == p))

  /** Checks the delivered rows and the final error. */
  def verify(out: Seq[Long], settled: Set[Long], refused: Option[SpliceException]): Unit = {
    checkExtra(if (refused.isEmpty && !world.plan.acceptsDuplicates) out else out.diff(world.archiver.repeated))
    refused match {
      case None        => checkMissing(out)
      case Some(error) => checkReason(error, settled)
    }
  }

  /** Losses and duplicates that policies accepted in a query without a failure. */
  def accepted(out: Seq[Long]): Set[String] = {
    val copies = history.map(_.id)
    val lost   = logRows(world.old, whole, moment) -- out
    Set("duplicates are accepted").filter(_ => copies.distinct.size < copies.size) ++
      Set("a gap is accepted").filter(_ =>
        world.plan.onGap == FailOrWarn.Warn && world.plan.strict && lost.exists(moves.mayBeLost)
      )
  }

  /** Rows that AvailableNow must have read at its end: the rows that existed at its start. */
  def visible: Seq[VisibleRow] = {
    val logs = for {
      cluster       <- Seq(world.old, world.live).distinct
      (name, topic) <- cluster.topics.toSeq
      (log, p)      <- topic.partitions.zipWithIndex
      record        <- log.all.takeWhile(_.offset < log.stableEnd).toSeq
      id            <- record.id
    } yield VisibleRow(id, Some((cluster, LogPartition(name, p), record.offset)))
    // Only the log has rows that are added to a folder after its listing, and rows of archives outside of the chain.
    val files = world.folders.filterNot(f => world.held.contains(f.name)).flatMap { f =>
      world.files(f.name).toSeq.flatMap(_.available)
    }
    logs ++ files.map(row => VisibleRow(row.id, None))
  }

  private def checkMissing(out: Seq[Long]): Unit = {
    if (moves.recreated) throw new Violation("a topic was recreated, but the query continued")
    val needed  = required
    val missing = needed -- out
    if (missing.nonEmpty) throw new Violation(s"rows are missing: ${missing.toSeq.sorted.mkString(",")}")
    val fewer = history.map(_.id).filter(needed).diff(out)
    if (fewer.nonEmpty)
      throw new Violation(s"rows were delivered less often than archives have them: ${fewer.sorted.mkString(",")}")
  }

  private def checkExtra(out: Seq[Long]): Unit = {
    val times = out.groupMapReduce(identity)(_ => 1)(_ + _)
    val twice = times.collect { case (id, n) if n > 1 && (world.plan.shape.exact || n > 2 || !archived(id)) => id }
    if (twice.nonEmpty) throw new Violation(s"rows are duplicated: ${twice.toSeq.sorted.mkString(",")}")
    val allowed = history.map(_.id).toSet ++ logRows(world.old, if (isPartial) first else _ => 0L, 0L) ++ migrated
    val strange = times.keySet -- allowed
    if (strange.nonEmpty) throw new Violation(s"unexpected rows: ${strange.toSeq.sorted.mkString(",")}")
  }

  /** Checks that the reason of an error is true. */
  private def checkReason(error: SpliceException, settled: Set[Long]): Unit = {
    lazy val lost = Seq(world.old, world.live).distinct.exists(hasLost(_, settled))
    val honest    = error.getCondition match {
      case "SPLICE_KAFKA_DATA.TOPIC_RECREATED"        => moves.recreated
      case "SPLICE_HAND_OVER_DATA.HISTORY_BEYOND_LOG" => moves.recreated
      case "SPLICE_KAFKA_DATA.DATA_LOSS"              => lost || moves.recreated
      case "SPLICE_HAND_OVER_DATA.GAP"        => world.plan.onGap == FailOrWarn.Fail && (lost || skipped(settled))
      case "SPLICE_HAND_OVER_DATA.HOLES"      => world.plan.onHoles == OnHoles.Fail && world.archiver.skipped.nonEmpty
      case "SPLICE_HAND_OVER_DATA.DUPLICATES" => !world.plan.acceptsDuplicates && world.archiver.repeated.nonEmpty
      case "SPLICE_KAFKA_DATA.HAND_OVER_TIME_GAP" => world.plan.onGap == FailOrWarn.Fail && world.old.removed.nonEmpty
      case "SPLICE_HAND_OVER_DATA.END_IN_FUTURE"  => world.hasMovedBack
      // A rollback reads files again, and a kill between a commit and its progress loses the counts of the batch.
      case "SPLICE_HAND_OVER_DATA.COUNTS_LOST"     => world.plan.skipsFiles && world.mayLoseCounts
      case "SPLICE_HYBRID.OTHER_END"               => moves.mayEndElsewhere
      case condition if condition.contains("FILE") => moves.changed.nonEmpty
      case _                                       => false
    }
    if (!honest) throw new Violation(s"the query fails without a reason: ${error.getMessage}")
  }

  /** True if the policy of a log has skipped rows, which are missing at a later hand-over by offsets. */
  private def skipped(settled: Set[Long]): Boolean =
    !world.plan.strict && world.old.removed.exists(id => !world.old.uncommitted(id) && !settled(id) && !archived(id))

  /** True if a log has lost an offset that is neither committed nor in an archive. A time rule reads the rows of
    * archives again from its time on.
    */
  private def hasLost(cluster: SimulatedCluster, settled: Set[Long]): Boolean = {
    val inArchive = if (world.plan.shape.exact) supplied else Set.empty[Long]
    (for {
      topic    <- cluster.topics.valuesIterator
      (log, p) <- topic.partitions.iterator.zipWithIndex
      partition = LogPartition(topic.name, p)
      // Without a record since the time, the start is the end offset. If a broker returns an outdated end offset,
      // records with earlier times follow this offset, and are read.
      begun = handedOver.flatMap(_.get(partition)).filter(_ => isBehind && Shape.byTime.contains(world.plan.shape))
      read  = math.max(moves.settledPosition(cluster, partition), begun.getOrElse(0L))
      // A partition that is discovered after the switch is read from its beginning, independent of record times.
      // Records after a position are also read, even if a backward clock gives them times before the switch.
      since   = if (read == 0 && begun.isEmpty && handedOver.forall(_.contains(partition))) moment else 0L
      records = log.ever.iterator.dropWhile(_.timestamp < since)
      record <- records.takeWhile(_.offset < log.earliest)
      if record.offset >= read
    } yield record).exists { record =>
      record.id.filterNot(cluster.uncommitted).forall { id =>
        !inArchive(id) && (!settled(id) || !world.plan.shape.exact)
      }
    }
  }

  private def listed(name: String): Seq[ArchivedRow] =
    world.files(name).flatMap(_.listed).getOrElse(Nil)

  private def archived = history.map(_.id).toSet

  /** Rows that archives supply in any case. If a task skips a file, only the log may supply its rows. */
  private def supplied = if (world.plan.skipsFiles) Set.empty[Long] else archived

  /** Last archive, on which a hand-over by time depends. */
  private def last: Seq[ArchivedRow] = world.folders.lastOption.toSeq.flatMap(f => listed(f.name))

  /** First offset from which every row must be delivered, from an archive or from the log. */
  private def whole: LogPartition => Long =
    if (world.plan.shape.exact && world.plan.shape != Shape.Relay && !world.plan.leavesHoles) _ => 0L else first

  /** True if log rows without a copy in an archive may be missing. */
  private def isPartial: Boolean = world.plan.shape == Shape.Relay || (world.plan.shape.exact && world.plan.leavesHoles)

  /** Start of the log: the greatest offset of all archives plus one, or the initial position of the query. */
  private def first: LogPartition => Long = {
    val ends: collection.Map[LogPartition, Long] =
      if (world.plan.shape == Shape.Relay) begun
      else if (world.plan.shape.exact)
        history.groupMapReduce(r => LogPartition(r.topic, r.partition))(_.offset + 1)(math.max)
      else Map.empty
    ends.getOrElse(_, 0L)
  }

  private def begun: collection.Map[LogPartition, Long] = world.decided("initial").flatMap(_.lift(1)) match {
    case Some(text) =>
      world.position(text).position(world.names.head) match {
        case position: KafkaPosition => position.offsets
        case other                   => throw new Violation(s"the first leg begins at $other")
      }
    case None => Map.empty
  }

  /** True if any broker has returned an outdated response. */
  private def isBehind: Boolean = world.names.flatMap(world.logs).exists(_.behind > 0)

  /** The starts of partitions that the switch to the last leg has; None before the switch. */
  private def handedOver: Option[collection.Map[LogPartition, Long]] =
    handOver.flatMap(_.lift(2)).map(KafkaPosition.read(_).offsets)

  /** Start time of the log, for a time rule. */
  private def moment: Long = world.plan.shape match {
    case Shape.ByTime(HandOver.EventTime(_, overlap, _))  => last.map(_.timestamp).max - overlap.toMillis
    case Shape.ByTime(HandOver.ModificationTime(overlap)) => modified - overlap.toMillis
    case Shape.ByTime(_)                                  => decidedTime.getOrElse(Long.MaxValue)
    case _                                                => 0L
  }

  private def modified: Long = {
    val times = for {
      folder <- world.folders.lastOption
      leg    <- world.files(folder.name)
      all    <- leg.listedTimes
    } yield all.max
    times.getOrElse(Long.MaxValue)
  }

  private def decidedTime: Option[Long] =
    handOver.flatMap(_.headOption).flatMap(Json.read)
      .flatMap(Json.field(_, "start")).flatMap(Json.field(_, "timestamp")).map(_.asLong)

  private def handOver: Option[Seq[String]] = world.scope(world.names.last).get("hand-over-00000000")

  /** Partitions with a start from a time rule. */
  private def known: Set[LogPartition] = {
    val start = handOver.flatMap(_.lift(2)).map(KafkaPosition.read)
    start.fold(Set.empty[LogPartition])(_.offsets.keySet.toSet)
  }

  private def migrated: Set[Long] = if (world.live eq world.old) Set.empty else logRows(world.live, _ => 0L, 0L)

  private def logRows(cluster: SimulatedCluster, from: LogPartition => Long, since: Long): Set[Long] = (for {
    topic    <- cluster.topics.valuesIterator ++ cluster.deleted
    (log, p) <- topic.partitions.iterator.zipWithIndex
    start = from(LogPartition(topic.name, p))
    record <- log.ever.iterator
    if record.offset >= start && record.timestamp >= since
    id <- record.id
    if !cluster.uncommitted(id)
  } yield id).toSet
}
