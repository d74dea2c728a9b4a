// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.life

import scala.annotation.tailrec
import scala.collection.immutable.SortedMap

import splice.kafka.Place
import splice.kafka.dynamic.life.cluster.{KillingSideLog, LifeDocument, LifeOutage}
import splice.kafka.dynamic.life.oracle.{LifeChanges, LifeFailures, LifeWarnings}
import splice.kafka.dynamic.life.planted.PlantedFault
import splice.source.errors.SpliceException
import splice.source.{Position, Source, TaskRanges}
import splice.testkit.simulation._

/** Scenario of a query over streams that move between clusters, with runs, kills and restarts. At the end, changes
  * stop and all rows are read.
  *
  * @param fault
  *   a fault that is planted
  */
final private[life] class DynamicLife(life: Life, fault: PlantedFault = PlantedFault.None) {

  private val chance = life.chance
  private val plan   = LifePlan.of(chance, life.seed)
  private val world  = new LifeWorld(life, plan, fault)
  private val events = new LifeEvents(world)
  private val spark  = new SimulatedSpark(life, subject, () => new KillingSideLog(world.side, life), plan.asynchronous)
  private var still  = false
  private var faulty = false
  private var inRun  = false

  private val failures = new LifeFailures(world)

  // Explanation of the failure of the last run.
  private var explanation = Option.empty[String]

  world.sink = () => spark.sink.rows
  world.replan = () => spark.replan()

  def live(): HistoryEnd = {
    LifeWarnings.begin()
    life.whenever(if (!still) {
      events.happen(None, isRunning = inRun)
      faulty ||= !world.isHealthy
    })
    try whole()
    finally {
      world.heal()
      world.closed()
    }
    new LifeSituations(world).ended()
    HistoryEnd(spark.sink.size, life.situations)
  }

  private def whole(): Unit = {
    lives(chance.between(1, 3))
    if (plan.isolates) {
      still = true
      val outage = new LifeOutage(life, world, run, () => explanation.nonEmpty, () => spark.settled)
      if (plan.lossy) outage.loss(() => atRest)
      else if (plan.fails || plan.steps || chance.oneIn(2)) outage.short()
      else outage.long()
      still = false
      lives(chance.between(0, 1))
    }
    still = true
    val sequences = new LifeSequences(life, world, run)
    if (plan.guards) sequences.removals()
    else if (plan.asynchronous) sequences.brief()
    else if (plan.mirrors) sequences.replaced()
    else if (chance.oneIn(4)) sequences.stale()
    still = false
    finish()
    world.oracle.verify(spark.sink.rows)
    if (plan.forgets) forget()
  }

  @tailrec private def lives(left: Int): Unit = if (left > 0) {
    run(trigger)
    (1 to chance.between(0, 6)).foreach(_ => events.happen(atRest, isRunning = false))
    lives(left - 1)
  }

  private def trigger: SimulatedTrigger =
    if (plan.timed && chance.oneIn(2)) SimulatedTrigger.RealTime(chance.between(1, 6))
    else if (chance.oneIn(3)) SimulatedTrigger.AvailableNow
    else SimulatedTrigger.ProcessingTime(chance.between(1, 5))

  /** Offset of the last batch, if no batch is pending. */
  private def atRest: Option[String] =
    if (plan.asynchronous || spark.lastLogged != spark.lastCommitted) None else spark.lastLogged

  /** Runs the query. Returns false if the driver is killed, or if the query fails and the scenario explains the
    * failure.
    */
  private def run(trigger: SimulatedTrigger): Boolean = {
    faulty = !world.isHealthy
    explanation = None
    world.call = None
    inRun = true
    try {
      spark.run(trigger, 2)
      true
    } catch {
      case _: Crash           => false
      case e: SpliceException =>
        val call = world.call.getOrElse("another call")
        life.note(s"the query fails in $call: ${e.getMessage}")
        explanation = failures.explanation(trigger, e, faulty)
        life.met(explanation.getOrElse(throw new Violation(s"the query fails in $call: ${e.getMessage}")))
        false
    } finally {
      inRun = false
      world.closed()
    }
  }

  /** Runs the query with all clusters available and without changes, until all required rows are read. */
  private def finish(): Unit = {
    still = true
    world.heal()
    life.clock.set(life.clock.ahead.negated)
    val stops   = chance.oneIn(2)
    val streams = world.valid.streams.map { case (name, stream) =>
      // Each record that has a copy must be read.
      name -> settled(name, stream.copy(stop = stream.stop.filter(_ => stops && name != "m")))
    }
    world.publish(world.valid.copy(streams = if (plan.guards) moved else streams, inactive = Set.empty))
    life.calm()
    val triggers =
      Seq(SimulatedTrigger.ProcessingTime(4), SimulatedTrigger.AvailableNow, SimulatedTrigger.ProcessingTime(2))
    (Option.when(plan.timed)(SimulatedTrigger.RealTime(3)) ++ triggers).foreach { trigger =>
      if (!run(trigger)) throw new Violation(s"$trigger does not end without a fault")
    }
    val missing = world.physical(world.valid.topics) -- world.oracle.topics
    if (missing.nonEmpty) throw new Violation(s"the last document is not applied: ${missing.mkString(", ")}")
  }

  /** Streams of the last change on other topics. No removal limit may reject this move. */
  private def moved = SortedMap.from(for {
    change           <- world.oracle.lastChange.iterator
    (stream, topics) <- change.topics.groupMap(_._2)(_._1)
  } yield stream -> {
    if (stream == "m") LifeDocument.stream(stream, topics.toSeq: _*)
    else LifeDocument.stream(stream, world.valid.clusters.keys.toSeq.map(_ -> s"$stream-z"): _*)
  })

  /** Reverts a move that was never applied, because the move may be too late. */
  private def settled(name: String, stream: splice.kafka.dynamic.KafkaStream) = stream.cutover match {
    case Some(_: Place) =>
      val applied = world.oracle.lastChange.toSeq.flatMap(_.topics.collect { case (place, `name`) => place })
      if (applied.isEmpty || applied.exists(p => stream.topics.contains(p._1))) stream
      else LifeDocument.stream(name, applied: _*)
    case None => stream
  }

  /** Checks that the checkpoint has no removed topics after the retention, and no clusters without other topics. */
  private def forget(): Unit = {
    Seq(1, 2).foreach { _ =>
      life.clock.advance(LifePlan.Retention.multipliedBy(2))
      val _ = run(SimulatedTrigger.ProcessingTime(3))
    }
    val text = LifeChanges.last(world.side)
    val kept = world.oracle.leaving.map(_._2).filterNot(name => world.valid.topics.exists(_._2 == name))
      .filter(name => text.contains(s"\"$name\""))
    if (kept.nonEmpty) throw new Violation(s"removed topics are kept: ${kept.mkString(", ")}")
    val clusters = world.oracle.lastChange.fold(Set.empty[String])(_.clusters) -- world.valid.topics.map(_._1)
    if (clusters.nonEmpty) throw new Violation(s"clusters without topics are kept: ${clusters.mkString(", ")}")
  }

  private object subject extends Subject {

    override def source(): Source[_ <: Position] = world.source

    override def rows(run: String, task: TaskRanges): TaskRows = new LifeTask(world, task.ranges)

    /** A replayed batch lacks the rows of topics that were deleted later. */
    override def same: SameRows =
      (before, now) => SameRows.exactly(before.filterNot(isRemoved), now.filterNot(isRemoved))

    private def isRemoved(id: Long) = world.rows(id).isRemoved

    override def killed(): Unit = world.closed()
  }
}
