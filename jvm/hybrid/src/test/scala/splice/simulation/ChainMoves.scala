// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.simulation

import scala.collection.mutable

import splice.files.internal.enumerator.FilesPosition
import splice.kafka.internal.split.KafkaPosition
import splice.source.LogPartition
import splice.source.options.FailOrWarn
import splice.testkit.internal.simulation.SimulatedCluster
import splice.testkit.simulation.{Life, SimulatedSpark}

/** Changes of the sources of a chain during a scenario: growth, retention, transactions, and in some scenarios a
  * harmful change.
  *
  * A harmful change may lose rows, so the query must fail with an error. A harmful change happens once and late, so
  * that every scenario is long enough.
  */
final class ChainMoves(life: Life, world: ChainWorld, spark: SimulatedSpark) {

  private val chance         = life.chance
  private val excusedRows    = mutable.Map.empty[Long, Option[LogPartition]]
  private var recreatedTopic = false
  private var recreatedNow   = false
  private var rewritten      = Set.empty[String]
  private var grim           = false
  private val removedIn      = mutable.Map.empty[Long, (Int, LogPartition)]
  private val begunIn        = mutable.Map.empty[String, Int]
  private var runs           = 0
  private var otherEnd       = false

  /** Rows that retention removed before the query could discover their partition.
    *
    * @param known
    *   true for a partition for which a time rule has checked that retention removed no row after its time
    */
  def excused(known: LogPartition => Boolean): collection.Set[Long] =
    excusedRows.collect { case (id, p) if life.hasMovedBack || p.forall(!known(_)) => id }.toSet

  /** Begins a run, and records the switches of earlier runs. The run describes the topics before the run reads
    * records.
    */
  def startRun(): Unit = {
    noteSwitches()
    runs += 1
    recreatedNow = false
  }

  /** True if a policy accepts the loss of a row that retention removed. Before the switch to the leg of the row,
    * `onGap` applies. After the switch, the policy of the log applies. A row that was removed in the run of the
    * switch may be removed before or after the switch.
    */
  def mayBeLost(id: Long): Boolean = removedIn.get(id).exists { case (run, _) =>
    noteSwitches()
    val cluster = if (world.live.removed(id)) world.live else world.old
    val own     = world.names.filter(world.logs(_).exists(_.cluster eq cluster))
    val first   = own.headOption.map(begun).getOrElse(Int.MaxValue)
    val last    = own.filter(world.rule(_).nonEmpty).map(begun).maxOption.getOrElse(-1)
    (world.plan.onGap == FailOrWarn.Warn && run <= last) || (!world.plan.strict && run >= first)
  }

  /** Partition of a row that retention removed before the start of the last leg. */
  def removedBefore(id: Long): Option[LogPartition] = removedIn.get(id).collect {
    case (run, p) if run <= begun(world.names.last) => p
  }

  /** Run in which a leg has begun. */
  private def begun(leg: String): Int = if (world.names.head == leg) 0 else begunIn.getOrElse(leg, Int.MaxValue)

  private def noteSwitches(): Unit = world.names.filterNot(begunIn.contains).foreach { name =>
    if (world.scope(name).get("hand-over-00000000").nonEmpty) begunIn += name -> runs
  }

  /** True if a topic was recreated since the start of the run. */
  def recreatedJustNow: Boolean = recreatedNow

  /** True if a topic was recreated. */
  def recreated: Boolean = recreatedTopic

  /** Files that were changed after their first write. */
  def changed: Set[String] = rewritten

  def begin(): Unit = {
    growing.foreach { cluster =>
      life.whenever(produce(cluster))
      life.whenever(produce(cluster))
      life.whenever(grow(cluster))
      life.whenever(retention(cluster))
      if (world.plan.transactional) life.whenever(transaction(cluster))
    }
    world.folders.lastOption.filter(_ => world.live eq world.old).foreach { last =>
      life.whenever(if (!world.isListed) world.archiver.archiveMore(last))
    }
    life.whenever(oneOfTheGrim())
    life.whenever(moveArchivesAway())
    if (world.plan.skipsFiles) life.whenever(removeRead())
  }

  /** Ends all transactions, so that all rows are readable. */
  def settle(): Unit =
    clusters.foreach(c => c.openTransactions.foreach(c.end(_, commit = true)))

  private def clusters = Seq(world.old, world.live).distinct

  // The old cluster of a migration receives no more rows.
  private def growing = if (world.plan.shape == Shape.Moved) Seq(world.live) else Seq(world.old)

  private def anyOf(cluster: SimulatedCluster): LogPartition = {
    val (name, topic) = chance.oneOf(cluster.topics.toSeq)
    LogPartition(name, chance.between(0, topic.partitions.size - 1))
  }

  private def produce(cluster: SimulatedCluster): Unit = {
    val p = anyOf(cluster)
    cluster.produce(p.topic, p.partition, chance.between(1, 4))
  }

  private def grow(cluster: SimulatedCluster): Unit = {
    val name = chance.oneOf(cluster.topics.keys.toSeq)
    if (world.plan.byPattern && !cluster.topics.contains("u")) { val _ = cluster.create("u", 1) }
    else if (cluster.topic(name).partitions.size < 4) {
      cluster.grow(name)
      cluster.produce(name, cluster.topic(name).partitions.size - 1, chance.between(1, 3))
    }
  }

  private def transaction(cluster: SimulatedCluster): Unit = cluster.openTransactions.headOption match {
    case Some(open) => cluster.end(open, commit = !chance.oneIn(3))
    case None       =>
      val name  = chance.oneOf(cluster.topics.keys.toSeq)
      val parts = cluster.topic(name).partitions.indices.filter(_ => chance.oneIn(2))
      if (parts.nonEmpty) cluster.begin(name, parts, chance.between(1, 2))
  }

  /** Removes old records that the query has read, or that a not yet read archive has. */
  private def retention(cluster: SimulatedCluster): Unit = {
    val p        = anyOf(cluster)
    val log      = cluster.topic(p.topic).partitions(p.partition)
    val read     = settledPosition(cluster, p)
    val archived =
      if ((cluster eq world.old) && world.plan.shape.exact && !world.plan.skipsFiles && !isRead(p) && isArchived)
        archivedUntil(p)
      else 0L
    val safe = math.max(read, archived)
    // An exact hand-over fails if retention removed records that no leg has.
    if (isUnknown(cluster, p)) {
      if (!world.plan.shape.exact || chance.oneIn(8))
        trim(cluster, p, math.min(log.end, log.earliest + chance.between(0, 2)))
    } else if (log.earliest < safe) trim(cluster, p, math.min(safe, log.earliest + chance.between(1, 4)))
  }

  /** End of the rows of a partition that an archive has, or will have after its next listing. */
  private def archivedUntil(p: LogPartition): Long = {
    val last = world.folders.lastOption.filter(_ => world.plan.watches).flatMap(f => world.files(f.name))
    last.flatMap(_.listed).fold(world.archiver.position(p)) { rows =>
      rows.filter(row => LogPartition(row.topic, row.partition) == p).map(_.offset + 1).maxOption.getOrElse(0L)
    }
  }

  private def oneOfTheGrim(): Unit = if (!grim && life.crashPoints.nonEmpty && life.steps > 60 && chance.oneIn(12)) {
    grim = true
    chance.between(1, 4) match {
      case 1 => rewriteOne()
      case 2 => recreateOne()
      case _ =>
        val cluster = chance.oneOf(clusters)
        val p       = anyOf(cluster)
        trim(cluster, p, cluster.topic(p.topic).partitions(p.partition).earliest + chance.between(1, 6))
    }
  }

  private def rewriteOne(): Unit = if (world.folders.isEmpty) grim = false
  else {
    val folder = chance.oneOf(world.folders)
    val listed = world.files(folder.name).fold(Set.empty[String])(_.listedPaths)
    folder.files.filter(file => listed(file.path)) match {
      case Nil   => grim = false
      case files =>
        val file = chance.oneOf(files)
        rewritten += file.path
        folder.rewrite(file.path, if (chance.oneIn(2)) file.rows.dropRight(1) else file.rows.reverse)
    }
  }

  /** Recreates a topic after the query has persisted the topic id. */
  private def recreateOne(): Unit =
    if (spark.lastLogged.map(world.position).exists(_.leg == "live")) {
      val before = world.live.topic("t").partitions
      world.live.create("t", before.size)
      // The new topic may exceed the offsets of the old topic before the next request.
      before.indices.foreach(p => world.live.produce("t", p, before(p).end.toInt + chance.between(0, 3)))
      recreatedTopic = true
      recreatedNow = true
    } else grim = false

  /** Removes archives whose end is committed, because the query must not need these archives any more. */
  private def moveArchivesAway(): Unit = spark.lastCommitted.map(world.position).foreach { at =>
    world.names.takeWhile(_ != at.leg).flatMap(world.files).find(_.folder.files.nonEmpty).foreach { leg =>
      leg.folder.files.foreach(f => leg.folder.remove(f.path))
    }
  }

  /** True if a query that begins at this offset, or at its start, needs no removed file. A second read may find a file
    * that the first read has skipped, and that the log supplies after the switch.
    */
  def canReadFrom(offset: Option[String]): Boolean = {
    val leg = offset.fold(world.names.head)(world.position(_).leg)
    !(world.plan.skipsFiles && world.isDecided) &&
    world.names.dropWhile(_ != leg).flatMap(world.files).forall(_.isWhole)
  }

  /** Changes an option and the files of the archive that the query begins again after a rollback. A batch that is
    * already planned needs the previous option.
    */
  def relist(): Unit = if (spark.lastLogged == spark.lastCommitted) {
    val begun = spark.resumesFrom.map(world.position) match {
      case None                                                   => world.names.headOption
      case Some(at) if at.position(at.leg) == FilesPosition.Start => Some(at.leg)
      case Some(at) => world.names.lift(world.names.indexOf(at.leg) + 1).filter { next =>
          world.scope(next).get("hand-over-00000000").exists(_.lift(1).contains(at.position(at.leg).json))
        }
    }
    begun.filter(world.present.contains).flatMap(name => world.files(name).map(name -> _)).foreach { case (name, leg) =>
      if (chance.oneIn(2)) {
        leg.change()
        life.met("files are listed again after a rollback")
        val later = world.names.drop(world.names.indexOf(name) + 1)
        otherEnd = otherEnd || later.exists(world.scope(_).get("hand-over-00000000").nonEmpty)
        if (chance.oneIn(2)) world.archiver.archiveMore(leg.folder)
      }
    }
  }

  /** True if files were listed again after the hand-over from their leg. */
  def mayEndElsewhere: Boolean = otherEnd

  /** Removes a file that the query has read. */
  private def removeRead(): Unit = spark.lastCommitted.map(world.position).foreach { at =>
    world.names.flatMap(world.files).foreach { leg =>
      at.find(leg.folder.name).foreach {
        case position: FilesPosition => leg.removeRead(position); case _ => ()
      }
    }
  }

  private def trim(cluster: SimulatedCluster, p: LogPartition, before: Long): Unit = {
    val log = cluster.topic(p.topic).partitions(p.partition)
    if (before > log.earliest) {
      removedIn ++= log.all.takeWhile(_.offset < before).flatMap(_.id).map(_ -> (runs -> p))
      if (isUnknown(cluster, p)) {
        // Before its decision, a time rule must detect the removal, unless record times do not increase.
        val noticed = !world.plan.shape.exact && !world.isDecided
        excusedRows ++= log.all.takeWhile(_.offset < before).flatMap(_.id).map(_ -> Option.when(noticed)(p))
      }
      cluster.trim(p.topic, p.partition, before)
    }
  }

  /** True if no logged batch has the partition, and no archive has a row of the partition. */
  private def isUnknown(cluster: SimulatedCluster, p: LogPartition): Boolean =
    spark.lastLogged.forall(at => positions(at, cluster).forall(_.get(p).isEmpty)) &&
      !((cluster eq world.old) && world.plan.shape.exact && isArchived && world.archiver.holds(p))

  // An archive outside of the chain provides no rows to the query.
  private def isArchived: Boolean = world.held.isEmpty

  private def isRead(p: LogPartition): Boolean =
    spark.lastLogged.exists(at => positions(at, world.old).exists(_.get(p).isDefined))

  /** Committed position of a partition. */
  def settledPosition(cluster: SimulatedCluster, p: LogPartition): Long =
    spark.lastCommitted.toSeq.flatMap(positions(_, cluster)).flatMap(_.get(p)).maxOption.getOrElse(0L)

  private def positions(json: String, cluster: SimulatedCluster): Seq[KafkaPosition] = {
    val at    = world.position(json)
    val begun = world.names.take(world.names.indexOf(at.leg) + 1)
    for {
      name <- begun
      leg  <- world.logs(name).toSeq
      if leg.cluster eq cluster
    } yield at.position(name).asInstanceOf[KafkaPosition]
  }
}
