// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.life.oracle

import java.time.Duration

import scala.collection.immutable.SortedSet
import scala.collection.mutable

import splice.kafka.dynamic.life.cluster.LifeRow
import splice.kafka.dynamic.life.{LifeEnumerator, LifePlan, LifeSituations, LifeWorld}
import splice.testkit.simulation.Violation

/** Computes the records that a query must read and may read, from its durable changes. */
final private[life] class LifeOracle(world: LifeWorld) {

  private type Place = (String, String)

  private val life = world.life
  private val plan = world.plan

  private var last     = Option.empty[LifeChange]
  private var there    = SortedSet.empty[Place]
  private val ever     = mutable.Set.empty[Place]
  private val required = mutable.Map.empty[Place, Set[Long]].withDefaultValue(Set.empty)
  // Rows after the time of a move whose topic was removed before the move ended, also rows that have copies.
  private val late    = mutable.Map.empty[Place, Set[Long]].withDefaultValue(Set.empty)
  private val removed = mutable.Map.empty[Place, (Int, String, Long)]
  private val added   = mutable.Map.empty[Place, Int]
  // Numbers of the changes that last removed a topic, and of the removal that was last abandoned.
  private val removedBy   = mutable.Map.empty[Place, Int]
  private val abandonedOf = mutable.Map.empty[Place, Int]
  private val renewals    = mutable.Map.empty[Place, Int].withDefaultValue(0)
  private var lacksCopies = false
  private var latest      = Long.MinValue
  private val limits      = new LifeLimits(world)
  private val situations  = new LifeSituations(world)

  /** Topics of the last change. */
  def topics: SortedSet[Place] = there

  /** Removed topics. */
  def leaving: Seq[(String, String)] = removed.keys.toSeq

  def lastChange: Option[LifeChange] = last

  /** Records new durable changes.
    *
    * @param run
    *   enumerator that made the changes, if running
    */
  def observe(run: Option[LifeEnumerator]): Unit = {
    latest = math.max(latest, life.clock.steady.millis)
    if (LifeChanges.started(world.side).nonEmpty) limits.started()
    LifeChanges.after(last.fold(-1)(_.number), world.side).foreach { change =>
      // Until a start is durable, a corrected document replaces the first document.
      if (LifeChanges.started(world.side).forall(_ >= change.number)) reset()
      val applied = last.forall(_.generation != change.generation)
      for (own <- run if applied && last.nonEmpty && change.generation < own.service.received)
        violated(s"document ${change.generation} is applied, but the query has received ${own.service.received}")
      take(change)
    }
    LifeWarnings.take().foreach { warning =>
      LifeChanges.abandoned(warning).foreach { case (name, topic) => abandon(world.names(name) -> topic) }
    }
    if (run.nonEmpty) world.clusters.values.foreach(_.faults.observed())
  }

  private def reset(): Unit = {
    removed.clear()
    required.clear()
    late.clear()
    there = SortedSet.empty
  }

  private def take(change: LifeChange): Unit = {
    val now     = world.physical(change.topics.keys)
    val left    = there -- now
    val isFirst = LifeChanges.started(world.side).forall(_ >= change.number)
    if (!isFirst) last.foreach(situations.changed(_, change, ever))
    if (left.nonEmpty || now != there)
      life.note(s"change ${change.number} applies ${change.generation}: ${now.mkString(" ")}")
    left.foreach { place =>
      val stream = last.flatMap(_.topics.collectFirst { case ((n, t), s) if (world.names(n) -> t) == place => s })
      removed(place) = (change.number, stream.getOrElse(""), life.clock.steady.millis)
      removedBy(place) = change.number
      if (!plan.drops) last.foreach(leaves(_, change, place))
    }
    (now -- there).foreach { place =>
      removed.get(place).foreach { case (_, _, since) =>
        if (latest - since >= LifePlan.Retention.toMillis) renewals(place) += 1
      }
      added(place) = change.number
      val _ = removed.remove(place)
    }
    if (plan.guards) guard(change, left)
    limits.take(last, change, isFirst)
    ever ++= now
    there = now
    last = Some(change)
  }

  /** Requires the rows of a removed topic. */
  private def leaves(was: LifeChange, change: LifeChange, place: Place): Unit = {
    val waiting = was.states.collectFirst { case (topic @ (n, t), "waiting") if isAt(place)(n, t) => topic }
    waiting match {
      case Some(topic) if was.times.contains(topic) =>
        // A move ends by the wall clock, which advances between the decision and its storage.
        val time = was.times(topic)
        if (!plan.steps && time.plus(LifeOracle.Decision).isBefore(change.at)) {
          val after = limits.owed(place).filter(_.millis >= time.toEpochMilli)
          late(place) = late(place) ++ after.map(_.id)
        }
      case found =>
        found.foreach { case (n, t) => limits.leaves(was, n, t) }
        required(place) = required(place) ++ limits.owed(place).map(_.id)
    }
  }

  /** Checks that a document removes at most half of the topics. Moved topics do not count. */
  private def guard(change: LifeChange, left: SortedSet[Place]): Unit = {
    val lost = left.count(place =>
      removed.get(place).exists { case (_, stream, _) => !change.topics.values.exists(_ == stream) }
    )
    if (lost > math.max(there.size / 2, 1)) violated(s"a document removes $lost of ${there.size} topics")
  }

  /** Requires only the already read records of a topic from now on. The cluster of the topic must have been unavailable
    * for the timeout in this call of the query.
    *
    * A batch that is planned again reports its changes again. Such a warning belongs to a removal that was abandoned
    * before.
    */
  private def abandon(place: Place): Unit = if (removedBy.get(place).forall(!abandonedOf.get(place).contains(_))) {
    removedBy.get(place).foreach(abandonedOf(place) = _)
    val outage = world.clusters(place._1).faults.outage
    if (outage < LifePlan.DrainTimeout.toMillis) violated(s"$place is abandoned after $outage ms")
    life.met("a topic is abandoned")
    required(place) = required(place) & world.sink().toSet
    late(place) = late(place) & world.sink().toSet
    lacksCopies ||= place._2 == "m"
  }

  /** Checks the records of a batch that was planned, or of a batch in real-time mode. */
  def planned(ids: Seq[Long]): Unit = {
    // Without progress of each batch, a run may plan records again that were read before a stop.
    if (!plan.asynchronous) ids.iterator.map(world.rows(_)).foreach { row =>
      limits.check(row)
    }
    if (plan.ordered && !plan.drops) inOrder(ids)
  }

  private def inOrder(ids: Seq[Long]): Unit = {
    lazy val read = world.sink().toSet ++ ids
    for {
      place <- ids.iterator.map(world.rows(_).topic).map(t => t.cluster -> t.name).toSet[Place]
      since <- added.get(place)
      stream = current(place)
      (old, (number, of, _)) <- removed if of == stream && stream.nonEmpty && number <= since && stream != "m"
    } {
      val unread = required(old).filterNot(id => world.rows(id).isRemoved || read(id))
      if (unread.nonEmpty) violated(s"$place is read before $old is drained: ${show(unread)}")
    }
  }

  private def current(place: Place): String =
    last.flatMap(_.topics.collectFirst { case ((n, t), s) if (world.names(n) -> t) == place => s }).getOrElse("")

  /** Checks all rows of the sink at the end of a scenario. */
  def verify(rows: Iterator[Long]): Unit = {
    val counts = mutable.Map.empty[Long, Int].withDefaultValue(0)
    rows.foreach(id => counts(id) += 1)
    val owed = (required.keySet ++ there).toSet.flatMap { place: Place =>
      if (there(place)) limits.owed(place).map(_.id).toSet else required(place)
    }.filterNot(id => world.rows(id).isRemoved || isMirror(id))
    val missing = (owed ++ late.valuesIterator.flatten).filterNot(counts.contains)
    if (missing.nonEmpty) violated(s"rows are missing: ${show(missing)}")
    val twice = counts.collect { case (id, n) if !isMirror(id) && n > 1 + renewals(place(id)) => id }
    if (twice.nonEmpty) violated(s"rows are read twice: ${show(twice)}")
    val unknown = counts.keys.filterNot(id => ever(place(id)))
    if (unknown.nonEmpty) violated(s"rows of topics that no applied document has: ${show(unknown)}")
    mirrored(counts)
  }

  /** Checks that each mirrored record is read from one of its clusters. */
  private def mirrored(counts: collection.Map[Long, Int]): Unit = if (plan.mirrors && ever.exists(_._2 == "m")) {
    val copies =
      world.clusters.keys.toSeq.sorted.flatMap(id => this.rows(id -> "m")).groupBy(row => (row.partition, row.offset))
    copies.values.foreach { same =>
      val times = same.map(row => counts.getOrElse(row.id, 0)).sum
      if (times == 0 && !lacksCopies) violated(s"no copy of ${same.head} is read")
      if (times > 1 && !world.mayRepeat) violated(s"copies of ${same.head} are read $times times")
    }
  }

  /** Required records of topics that are missing from `ids`. */
  def unread(places: Iterable[Place], ids: Iterator[Long]): Set[Long] = {
    val known = ids.toSet
    places.iterator.flatMap(rows).map(_.id).filterNot(known).toSet
  }

  def show(ids: Iterable[Long]): String = ids.toSeq.sorted.take(8).map(world.rows(_)).mkString(", ")

  private def isAt(place: Place)(cluster: String, topic: String): Boolean = (world.names(cluster) -> topic) == place

  private def isMirror(id: Long): Boolean = world.rows(id).topic.name == "m"

  private def place(id: Long): Place = {
    val topic = world.rows(id).topic
    topic.cluster -> topic.name
  }

  private def rows(place: Place): Seq[LifeRow] =
    world.clusters(place._1).topic(place._2).fold(Seq.empty[LifeRow])(_.rows.toSeq)

  private def violated(text: String): Nothing = throw new Violation(text)
}

private[life] object LifeOracle {

  /** Longest time between the decision on a change and its storage. */
  private val Decision = Duration.ofMinutes(2)
}
