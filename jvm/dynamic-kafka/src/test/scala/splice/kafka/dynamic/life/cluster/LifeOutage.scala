// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.life.cluster

import java.time.Duration

import scala.annotation.tailrec

import splice.kafka.dynamic.life.oracle.LifeChanges
import splice.kafka.dynamic.life.{DynamicLives, LifeEvents, LifeWorld}
import splice.source.LogPartition
import splice.testkit.simulation.{Life, SimulatedTrigger, Violation}

/** Outages of one cluster. The query must continue with the other clusters.
  *
  * @param run
  *   runs the query; returns false if the query ends early
  * @param isExplained
  *   true if the last run failed and the scenario explains the failure
  * @param settled
  *   ids of the rows of committed batches
  */
final private[life] class LifeOutage(
    life: Life,
    world: LifeWorld,
    run: SimulatedTrigger => Boolean,
    isExplained: () => Boolean,
    settled: () => Iterator[Long]
) {

  private type Place = (String, String)

  private val chance = life.chance
  private val plan   = world.plan

  /** Runs an outage that begins before a run and ends after the run. */
  def long(): Unit = {
    val away = placed("o", "o-x")(if (life.seed % 4 == 0) random else mirror.getOrElse(random))
    world.clusters(away).faults.set(LifeFault.Away)
    life.note(s"outage of $away")
    life.met("a cluster is unavailable for a run")
    change(away)
    val begun   = world.clusters(away).everOpened
    val entries = world.oracle.lastChange.fold(0)(_.number)
    val started = world.drivers
    if (awaited(SimulatedTrigger.ProcessingTime(12)) > 0)
      check(independent(away), world.sink(), "during an outage of another cluster")
    val clients = world.clusters(away).everOpened - begun
    val changes = world.oracle.lastChange.fold(0)(_.number) - entries
    // A driver opens clients for the replay of a batch, for its first request and after a change of topics.
    if (clients > (world.drivers - started) * 2 + changes)
      throw new Violation(s"$clients clients of $away are opened while it is unavailable")
    independent(away).foreach { case (id, topic) => world.write(id, topic, 0, 1) }
    val _ = awaited(SimulatedTrigger.AvailableNow)
    check(independent(away), settled(), "by AvailableNow during an outage of another cluster")
    world.heal()
    life.note(s"$away is available again")
  }

  /** Runs an outage of one trigger, and a long batch or a backward clock. The outage ends before or after the batch.
    * The stream may be removed during the outage.
    */
  def short(): Unit = {
    val away   = placed("b", "b-x")(random)
    val isLate = plan.hangs && chance.oneIn(2)
    val leaves = chance.oneIn(2)
    val faults = world.clusters(away).faults
    world.whenAdvanced = {
      case 1 =>
        if (leaves && !isLate) leave(away)
        faults.set(if (isLate) LifeFault.Late else LifeFault.Away)
      case 2 =>
        if (leaves && isLate) leave(away)
        life.note(s"$away was ${if (isLate) "late" else "unavailable"} for one trigger")
        life.met(s"a cluster is ${if (isLate) "late" else "unavailable"} for one trigger")
        if (life.seed % 2 == 0) world.heal()
        if (plan.steps) world.step(Duration.ofMinutes(-90))
        else life.clock.advance(Duration.ofMinutes(10))
        if (!leaves) world.write(away, "b-x", 0, 2)
        world.heal()
        // A request that is sent in one trigger has a response in the next trigger.
        world.responses.settle()
      case n if n > 2 => world.responses.settle()
      case _          => ()
    }
    val drivers = awaited(SimulatedTrigger.ProcessingTime(8))
    world.heal()
    if (drivers == 1 && !leaves) check(Seq(away -> "b-x"), world.sink(), "after an outage of one trigger")
  }

  /** Deletes or truncates a topic during its drain.
    *
    * @param atRest
    *   offset of the last batch; None while a batch is pending
    */
  def loss(atRest: () => Option[String]): Unit = {
    readAll()
    val Seq(from, to) = world.clusters.keys.toSeq.sorted.take(2): @unchecked
    place("b", from, "b-x")
    readAll()
    world.write(from, "b-x", 0, 40)
    place("b", to, "b-y")
    world.write(to, "b-y", 0, 3)
    val _ = awaited(SimulatedTrigger.ProcessingTime(2))
    atRest().foreach { at =>
      // The log keeps all records of committed batches, so that a batch that is read again has the same rows.
      val read = world.names.toSeq.filter(_._2 == from).flatMap { case (name, _) =>
        LifeChanges.offset(at, name, LogPartition("b-x", 0))
      }.maxOption
      read.filter(_ => chance.oneIn(2)) match {
        case Some(offset) =>
          val end = offset + chance.between(0, 3).toLong
          life.note(s"$from/b-x-0 is truncated to $end during its drain")
          life.met("a topic is truncated during its drain")
          world.clusters(from).truncate("b-x", 0, end)
        case None =>
          life.note(s"$from/b-x is deleted during its drain")
          life.met("a topic is deleted during its drain")
          world.clusters(from).delete("b-x")
      }
    }
  }

  private def leave(id: String): Unit = {
    world.write(id, "b-x", 0, 2)
    world.publish(world.valid.copy(streams = world.valid.streams - "b"))
  }

  /** Reads all records with all clusters available. No failure of such a run is explained. */
  private def readAll(): Unit = {
    world.heal()
    world.publish(world.valid.copy(inactive = Set.empty))
    val _ = awaited(SimulatedTrigger.AvailableNow)
  }

  /** Adds a stream of one topic, and reads all records. Returns the cluster of the topic. */
  private def placed(stream: String, topic: String)(cluster: => String): String = {
    readAll()
    val id = cluster
    place(stream, id, topic)
    readAll()
    id
  }

  private def random: String = chance.oneOf(world.clusters.keys.toSeq.sorted)

  /** Cluster of the mirrored stream. A move from this cluster to a mirror needs a response of this cluster. */
  private def mirror: Option[String] =
    world.valid.streams.get("m").flatMap(_.topics.keys.headOption).map(world.names)

  /** Adds a stream of one topic. */
  private def place(stream: String, id: String, topics: String*): Unit = {
    val name = nameOf(id)
    world.publish(world.valid.copy(streams =
      world.valid.streams.updated(stream, LifeDocument.stream(stream, topics.map(name -> _): _*))
    ))
  }

  private def nameOf(id: String): String = world.valid.clusters.collectFirst { case (name, `id`) => name }.getOrElse("")

  private def check(places: Iterable[Place], rows: Iterator[Long], when: String): Unit = {
    val unread = world.oracle.unread(places, rows).filterNot(id => world.rows(id).isRemoved)
    if (unread.nonEmpty) throw new Violation(s"not read $when: ${world.oracle.show(unread)}")
  }

  /** Publishes a document that changes streams of available clusters and of the unavailable cluster. */
  private def change(away: String): Unit = {
    val others = world.valid.clusters.filterNot(_._2 == away).toSeq
    world.write(away, "o-x", 0, 3)
    val first = LifeDocument.stream("o", others.head._1 -> "o-y")
    val next  = if (chance.oneIn(2)) LifeDocument.stream("o", others.head._1 -> "o-y", others.last._1 -> "o-z")
    else LifeDocument.stream("o", others.last._1 -> "o-z")
    val streams = world.valid.streams + ("h" -> world.placed("h", others.map(_._1))) + ("o" -> first) +
      ("n" -> LifeDocument.stream("n", nameOf(away) -> "n-x"))
    world.publish(world.valid.copy(streams = streams))
    world.whenAdvanced = { count =>
      // Each trigger sends another request to the unavailable cluster.
      life.clock.advance(LifeOutage.Delay)
      if (count == 3) {
        // The query has no position of n-x, because the cluster has not responded.
        world.publish(world.valid.copy(streams = world.valid.streams.updated("o", next) - "n"))
        world.write(others.last._2, "o-z", 0, 2)
      }
    }
    if (plan.mirrors) world.publish(new LifeEvents(world).moved(world.valid))
    world.physical(world.valid.topics).filter(_._1 != away).foreach { case (id, topic) => world.write(id, topic, 0, 2) }
  }

  /** Topics of a stream that was always on available clusters only. */
  private def independent(away: String): Iterable[Place] =
    world.physical(world.valid.topics).filter { case (id, topic) => id != away && topic.startsWith("h-") }

  /** Runs the query until no kill ends it. Returns the number of runs; 0 if the scenario explains that no run ends. */
  private def awaited(trigger: SimulatedTrigger): Int = {
    @tailrec def again(runs: Int, kills: Int): Int = {
      world.advances = 0
      if (run(trigger)) runs
      else if (isExplained()) if (runs < LifeOutage.Runs) again(runs + 1, kills) else 0
      else if (kills < DynamicLives.Settings.crashesAtMost) again(runs + 1, kills + 1)
      else throw new Violation(s"no run of $trigger ends")
    }
    val runs = again(1, 0)
    if (trigger != SimulatedTrigger.AvailableNow) world.whenAdvanced = _ => ()
    runs
  }
}

private[life] object LifeOutage {

  /** Time of each batch during an outage. This time exceeds the longest delay between two requests to a cluster. The
    * sum of these times exceeds `drainTimeout`.
    */
  private val Delay = Duration.ofSeconds(40)

  /** Number of runs after which a failure that the scenario explains ends the outage. */
  private val Runs = 6
}
