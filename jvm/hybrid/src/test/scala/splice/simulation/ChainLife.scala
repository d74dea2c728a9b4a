// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.simulation

import java.io.IOException

import scala.annotation.tailrec

import splice.files.internal.split.FileRange
import splice.hybrid.internal.split.LegRange
import splice.kafka.internal.errors.KafkaErrors
import splice.simulation.leg.{RowsInTurn, SimulatedRule}
import splice.simulation.planted.Faults
import splice.source.errors.SpliceException
import splice.source.{Position, Source, SplitRange, TaskRanges}
import splice.testkit.simulation._

/** Scenario of a query over a chain: starts, kills, stops and restarts, then an end without faults at which the
  * result is verified.
  *
  * @param isTimed
  *   true if some runs are in real-time mode or in continuous mode
  */
final class ChainLife(life: Life, faults: Faults, only: Option[Shape] = None, isTimed: Boolean = false) {

  private val chance            = life.chance
  private val plan              = ChainPlan.of(life, only.orElse(faults.shape), isTimed)
  private val durable           = new SimulatedSideLog(life)
  private val world: ChainWorld = new ChainWorld(
    life,
    plan,
    faults,
    durable,
    () => spark.lastCommitted,
    () => spark.drivers
  )
  private lazy val spark =
    new SimulatedSpark(life, subject, () => faults.sideLog(durable.opened), plan.asynchronous, retained)
  private def retained = if (life.seed % 4 == 0) 4 else 100
  private val moves    = new ChainMoves(life, world, spark)
  private val edits    = new ChainEdits(life, world, spark, if (only.isEmpty) faults.changes else Nil)
  private val oracle   = new ChainOracle(world, moves)
  private val marks    = scala.collection.mutable.Set.empty[String]

  // Last row that existed when the ends of the run were frozen.
  private var frozen = Option.empty[Long]

  private var staleBefore = 0

  def live(): HistoryEnd = SimulatedRule.within(world.calls) {
    try {
      moves.begin()
      val refused = if (plan.isBounded) bounded() else runs(chance.between(3, 7)).orElse(end())
      world.calls.check()
      oracle.verify(spark.sink.rows.toSeq, spark.settled.toSet, refused)
      if (refused.isEmpty && !plan.isBounded) {
        world.checkCommits()
        marks ++= oracle.accepted(spark.sink.rows.toSeq)
      }
      // A log follows the last archive.
      if (world.folders.lastOption.flatMap(f => world.files(f.name)).exists(_.hasSegments))
        marks += "several segments in a leg before a log"
      if (world.fillsHoles) marks += "holes are filled"
      marks += s"holes ${plan.onHoles}" += s"gap ${plan.onGap}" += s"duplicates ${plan.onDuplicates}"
      marks += s"shape ${plan.shape}" += (if (plan.asynchronous) "asynchronous" else "synchronous")
      marks ++= refused.map(e => s"rejected ${e.getCondition}")
      if (staleResponses > 0) marks += "a broker is stale"
      spark.lastLogged.foreach(at => marks += s"ended in ${world.position(at).leg}")
      HistoryEnd(spark.sink.size, marks.toSet ++ life.situations)
    } finally world.legs.values.foreach(_.close())
  }

  /** Runs until the scenario is long enough or an error ends it. */
  @tailrec private def runs(left: Int): Option[SpliceException] =
    if (left <= 0 && life.crashPoints.nonEmpty && life.steps >= 20) None
    else
      run(trigger) match {
        case refused @ Some(_) => refused
        case None              =>
          life.pause()
          if (
            !plan.asynchronous && !spark.isContinuous && chance.oneIn(20) && spark.rollBack(chance.between(1, 6))(
              moves.canReadFrom
            )
          ) moves.relist()
          runs(left - 1)
      }

  /** Reads the chain once, after changes of its sources. */
  private def bounded(): Option[SpliceException] = {
    marks += "a bounded read"
    (1 to chance.between(10, 60)).foreach(_ => life.step("time passes"))
    moves.settle()
    life.calm()
    run(SimulatedTrigger.Bounded)
  }

  /** Runs without further changes, so that the query must deliver all available rows. */
  private def end(): Option[SpliceException] = {
    moves.settle()
    life.calm()
    if (spark.isContinuous) run(SimulatedTrigger.Continuous(0)) else endBatches()
  }

  private def endBatches(): Option[SpliceException] =
    // The first run of a chain that reads one log twice may end in the second-last leg.
    run(
      SimulatedTrigger.AvailableNow
    ).orElse(run(SimulatedTrigger.AvailableNow)).orElse(run(SimulatedTrigger.ProcessingTime(2)))

  /** Runs the query once. Returns the error that ends the query permanently. A restart follows a kill or an
    * unavailable broker.
    */
  private def run(trigger: SimulatedTrigger): Option[SpliceException] = {
    val isFrozen = Set[SimulatedTrigger](SimulatedTrigger.AvailableNow, SimulatedTrigger.Bounded)(trigger)
    val visible  = if (isFrozen) oracle.visible else Nil
    val logged   = spark.lastBatch
    val drivers  = spark.drivers
    def isAlone  = spark.drivers == drivers + 1
    staleBefore = staleResponses
    moves.startRun()
    edits.startRun()
    world.names.flatMap(world.logs).foreach(_.startRun())
    if (spark.lastLogged == spark.lastCommitted && spark.settled.size == spark.sink.size) hideFiles()
    try {
      spark.run(trigger, chance.between(1, 4))
      edits.ended(isAlone)
      // A recreated topic is detectable only at the next request. A driver that was frozen may not have read to the
      // end.
      if (isFrozen && !moves.recreatedJustNow && isAlone) checkAvailable(visible)
      None
    } catch {
      case _: Crash =>
        marks += s"killed in ${spark.lastLogged.fold("no leg")(at => world.position(at).leg)}"
        None
      case away: SpliceException if KafkaErrors.isUnreachable(away) =>
        marks += "broker unavailable"
        None
      case failed: RemovalFailed    => throw new Violation(s"the query fails: $failed")
      case _: IOException           => None
      case refused: SpliceException => Option.unless(edits.explains(refused))(refused)
    } finally {
      edits.endRun()
      world.calls.check()
      if (isAlone && !moves.recreatedJustNow) frozen.foreach(checkFrozen(logged, _))
      frozen = None
    }
  }

  /** Checks that no batch of AvailableNow, except a replayed batch, has a row that was written after the freeze of
    * the ends.
    */
  private def checkFrozen(logged: Long, last: Long): Unit = {
    if (world.lastRow > last) marks += "the ends of AvailableNow are exceeded by a log"
    val beyond = spark.sink.rowsAfter(logged).filter(_ > last).toSeq
    if (beyond.nonEmpty) throw new Violation(s"AvailableNow has read later rows: ${beyond.sorted.mkString(",")}")
  }

  // A repeated batch must find the same files, because the sink may already have its rows.
  private def hideFiles(): Unit =
    world.names.flatMap(world.files).foreach(_.hide(isHarmless = plan.isBounded || !life.isCalm))

  private def trigger: SimulatedTrigger = if (spark.isContinuous) continuous else batches

  private def continuous: SimulatedTrigger = SimulatedTrigger.Continuous(chance.between(8, 40))

  private def batches: SimulatedTrigger = chance.between(1, 6) match {
    case 2 | 4 | 5 if plan.isContinuous  => continuous
    case 1 | 2                           => SimulatedTrigger.AvailableNow
    case 3                               => SimulatedTrigger.Once
    case _ if isTimed && chance.oneIn(2) => SimulatedTrigger.RealTime(chance.between(1, 8))
    case _                               => SimulatedTrigger.ProcessingTime(chance.between(1, 8))
  }

  private def checkAvailable(visible: Seq[VisibleRow]): Unit = {
    if (!plan.isBounded) marks += "AvailableNow ended"
    val unread = visible.filter(isShown).map(_.id).toSet & oracle.required -- spark.sink.rows
    if (unread.nonEmpty) throw new Violation(s"AvailableNow has left unread ${unread.toSeq.sorted.mkString(",")}")
    val leg = spark.lastLogged.map(world.position(_).leg)
    if (
      !plan.isBounded && staleResponses == staleBefore && !Set[Shape](Shape.Twice, Shape.Relay)(plan.shape) &&
      !leg.contains("live")
    )
      throw new Violation(s"AvailableNow has ended in leg $leg")
  }

  /** True if no stale broker response in this run has hidden the row from a leg, or the end of the previous leg. */
  private def isShown(row: VisibleRow): Boolean = row.record.forall { case (cluster, p, offset) =>
    val logs = world.names.flatMap(world.logs)
    if (logs.size == 1) logs.filter(_.cluster eq cluster).forall(offset < _.lowestEnd(p))
    else staleResponses == staleBefore
  }

  private def staleResponses: Int = world.names.flatMap(world.logs).map(_.behind).sum

  private object subject extends Subject {

    override def source(): Source[_ <: Position] = world.source()

    override def rows(run: String, task: TaskRanges): TaskRows = {
      val ranges = task.ranges.map(_.asInstanceOf[LegRange])
      val all    = new RowsInTurn(ranges.map(_.leg).distinct.map { leg =>
        val own = ranges.filter(_.leg == leg).map(_.range)
        RowsInTurn.Part(own, () => world.legs(leg).rows(run, task.copy(ranges = own)), LegRange(leg, _))
      })
      faults.rows(all, !plan.strict && chance.oneIn(20))
    }

    override def frozen(): Unit = {
      ChainLife.this.frozen = Some(world.lastRow)
      // The tasks of a bounded read and the count of its rows may skip other files.
      if (plan.isBounded) hideFiles()
    }

    override def losesReports: Boolean = !plan.skipsFiles

    override def killed(): Unit = world.legs.values.foreach(_.killed())

    // A policy that accepts loss accepts the removal of rows between two reads. A reader detects a recreated topic
    // only at the next request for its topics.
    override def same: SameRows = (first, again) =>
      SameRows.exactly(first, again) || {
        val (missing, added) = (first.diff(again), again.diff(first))
        // An attempt of a committed batch, or of a driver that Spark's log will stop, may skip removed files.
        if (plan.skipsFiles && added.isEmpty) true
        else if (moves.recreatedJustNow) (missing ++ added).forall(world.isOfRecreated)
        else !plan.strict && (missing.isEmpty || added.isEmpty) && (missing ++ added).forall(world.isRemoved)
      }

    override def describe(range: SplitRange): String = range match {
      case LegRange(leg, files: FileRange) => s"$leg/${files.splitId} ${files.blocks.mkString("+")}"
      case LegRange(leg, other)            => s"$leg/$other"
      case other                           => other.toString
    }
  }
}
