// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.testkit.simulation

import java.io.IOException

import scala.util.control.ControlThrowable

import splice.coordinator.slots.{CutRules, SlotRules}
import splice.coordinator.{Coordinator, RealTimeBatches}
import splice.source.errors.SpliceException
import splice.source.options.SlotAssigner
import splice.source.runtime.{Report, SideLog}
import splice.source.{EnumeratorContext, Position, ReadMode, TaskRanges}
import splice.testkit.internal.simulation.{BatchLog, ConcurrentUpdate, PlanLedger, SimulatedLogs}

/** Runs a query's batches around the coordinator, in the order of calls of Spark's MicroBatchExecution.
  *
  * What is durable outlives [[run]]: the logs, the side log, the sink.
  *
  * @param sideLog
  *   opens the source's side log for one run
  * @param asynchronous
  *   whether continual runs log offsets and commits late and not for every batch, as asynchronous progress tracking does
  */
final class SimulatedSpark(
    life: Life,
    subject: Subject,
    sideLog: () => SideLog,
    asynchronous: Boolean,
    retained: Int = 100
) {

  val sink            = new SimulatedSink(life, subject.same)
  private val logs    = new SimulatedLogs(life, retained)
  private val plans   = new PlanLedger(subject.describe)
  private var runs    = 0
  private var isLossy = false

  /** The rows that no restart reads again. */
  def settled: Iterator[Long] = sink.rowsUpTo(logs.lastCommitted)

  /** The offset of the last batch that is done durably. */
  def lastCommitted: Option[String] = logs.committed.map(_._2)

  /** The offset of the last batch in the log. */
  def lastLogged: Option[String] = logs.last.map(_._2)

  /** The last batch in the log. */
  def lastBatch: Long = logs.last.fold(-1L)(_._1)

  /** The offset at which the next run begins to read; None before the first batch is done. */
  def resumesFrom: Option[String] = logs.resumesFrom

  /** How many drivers have begun. */
  def drivers: Int = runs

  /** Plans of batches may change from now on, because records of them were lost. */
  def replan(): Unit = isLossy = true

  /** Deletes the newest offsets and commits, and what the sink has of them, if the query can read its sources again from an offset. */
  def rollBack(batches: Int)(canReadFrom: String => Boolean): Unit = {
    val kept = logs.batches.dropRight(batches)
    // The offset of the batch before is needed to run a batch again.
    val isCommitted = kept.lastOption.exists(logs.isCommitted) && (kept.size < 2 || life.chance.oneIn(2))
    val from        = if (isCommitted) kept.lastOption else kept.dropRight(1).lastOption
    if (from.flatMap(logs.offset).exists(canReadFrom)) kept.lastOption.foreach { batch =>
      logs.rollBack(batch, isCommitted)
      sink.forgetAfter(if (isCommitted) batch else batch - 1)
      life.met("rolled back")
      life.note(s"rolled back to batch $batch, ${if (isCommitted) "committed" else "not committed"}")
    }
  }

  /** One run of the query, from its start to a stop. A kill ends it with [[Crash]]; what the source throws ends the query. A driver that was
    * frozen while another one ran may fail for any reason: it is not the query any more.
    */
  def run(trigger: SimulatedTrigger, cores: Int): Unit = {
    // A driver that resumes may have stored what changes the plans of another one, where a policy accepts loss.
    if (life.isResumed) plans.keep(_ => false)
    life.begin()
    // Asynchronous progress tracking does not detect a second driver.
    if (!asynchronous) life.whenFrozen(() => another())
    try drive(trigger, cores)
    catch { case ended: Ended => throw ended.failure }
  }

  /** Runs a second driver on the same checkpoint. If it fails, so does the query. */
  private def another(): Unit = {
    try drive(SimulatedTrigger.ProcessingTime(life.chance.between(0, 4)), life.chance.between(1, 4))
    catch {
      case _: Crash           => ()
      case failure: Exception => throw new Ended(failure)
    }
    // A driver that is frozen is killed in many cases, and resumes in others.
    if (life.chance.oneIn(3)) throw new Crash(CrashPoint.Frozen)
  }

  private def drive(trigger: SimulatedTrigger, cores: Int): Unit = {
    runs += 1
    val (own, name) = (runs, s"run-$runs")
    val steady      = Some(life.clock.steady)
    plans.keep(logs.isLogged)
    val coordinator = new Coordinator(
      subject.source(),
      EnumeratorContext(sideLog(), ReadMode.Stream, life.clock, cores, name, retained, durations = steady),
      rules(cores),
      retained,
      batches = logs,
      // They change every 3 minutes, and not by chance, which would change all that follows.
      cores = Some(() => 1 + ((life.clock.steady.millis / 180000L + own) % 4).toInt)
    )
    life.step(s"$name: $trigger, $cores cores, logged ${logs.last}")
    val batches = new MicroBatches(coordinator, name, trigger)
    try {
      try batches.run()
      catch {
        case violation: Violation      => throw violation
        case failure: ControlThrowable => throw failure
        case failure: Throwable        =>
          life.note(s"$name fails: $failure")
          batches.stop()
          if (runs == own) throw failure
          life.met(failure match {
            case _: ConcurrentUpdate => "a frozen driver is stopped by Spark's log"
            case _                   => "a frozen driver fails"
          })
      }
      life.step(s"$name has stopped")
    } catch {
      case crash: ControlThrowable =>
        subject.killed()
        throw crash
    }
  }

  /** What a user asks of tasks in this run, which may be something else than in the run before. */
  private def rules(cores: Int): SlotRules = {
    val chance                   = life.chance
    def some[A](a: A): Option[A] = if (chance.oneIn(3)) Some(a) else None
    val slots                    = if (chance.oneIn(4)) chance.between(1, 4) else cores
    val cut                      =
      CutRules(some(chance.between(1, 3).toLong), some(chance.between(1, slots)), some(chance.between(1, 9).toLong))
    SlotRules(slots, chance.oneOf(SlotAssigner.all), if (chance.oneIn(2)) cut else CutRules.Never)
  }

  final private class MicroBatches(coordinator: Coordinator, name: String, trigger: SimulatedTrigger) {

    private val progress                   = new BatchLog(logs, life, asynchronous && trigger.isContinual)
    private var consumed: Option[Position] = None
    private var reports: Seq[Report]       = Nil
    private val running                    = new SimulatedTasks(life, subject.same, subject.rows(name, _))

    def run(): Unit = {
      coordinator.open()
      if (trigger == SimulatedTrigger.AvailableNow) {
        coordinator.freeze()
        subject.frozen()
      }
      if (trigger.isTimed) forgetUncommitted()
      // A batch that a time ends reaches the sink before the log.
      else if (!asynchronous) sink.forgetAfter(lastBatch)
      val next = recover()
      trigger match {
        case SimulatedTrigger.ProcessingTime(triggers) =>
          val _ = (1 to triggers).foldLeft(next)((batch, _) => construct(batch).getOrElse(batch))
        case SimulatedTrigger.RealTime(count) =>
          val mode = coordinator.realTime(() => Int.MaxValue)
            .getOrElse(throw new Violation("the source is not read in real-time mode"))
          mode.unsupportedLeg.foreach(leg => throw new Violation(s"$leg is not read in real-time mode"))
          val _ = (1 to count).foldLeft(next)((batch, _) => timed(batch, mode))
        case SimulatedTrigger.Once         => val _ = construct(next)
        case SimulatedTrigger.AvailableNow =>
          Iterator.iterate(Option(next))(_.flatMap(construct)).take(SimulatedSpark.Patience).find(_.isEmpty)
            .getOrElse(throw new Violation(s"AvailableNow has not ended after ${SimulatedSpark.Patience} batches"))
      }
      progress.drain()
      stop()
    }

    /** Spark stops the source, after success and after failure. A source that fails to stop fails no query. */
    def stop(): Unit =
      try {
        reports = reports ++ running.stop()
        try {
          coordinator.reported(reports)
          coordinator.stopped {
            life.met("a stop has the last commit")
            logs.committed.map(_._2)
          }
        } catch {
          case violation: Violation                            => throw violation
          case failure @ (_: SpliceException | _: IOException) =>
            life.met("a stop fails")
            life.note(s"$name fails to stop: $failure")
        }
      } finally coordinator.close()

    /** Replays a batch that has begun and not ended; answers the id of the next batch. */
    private def recover(): Long = logs.last match {
      case None =>
        if (asynchronous) sink.forgetAfter(-1L)
        0L
      case Some((batch, until)) if logs.isCommitted(batch) =>
        if (asynchronous) sink.forgetAfter(batch)
        consumed = Some(read(until))
        batch + 1
      case Some((batch, until)) =>
        val before = logs.before(batch)
        val from   = before.map(b => read(b._2)).getOrElse(coordinator.initial())
        life.step(s"replay of batch $batch")
        if (asynchronous) sink.forgetAfter(before.fold(-1L)(_._1))
        execute(batch, from, read(until))
        progress.ended(batch)
        batch + 1
    }

    /** Runs the next batch, if there is something for it; answers the id of the batch after it. */
    private def construct(batch: Long): Option[Long] = {
      life.step(s"trigger, batch $batch")
      val from = consumed.map(at => read(at.json)).getOrElse(coordinator.initial())
      coordinator.reported(reports)
      reports = Nil
      val until = coordinator.advance(from, everything = trigger == SimulatedTrigger.Once)
      if (!from.precedes(until)) throw new Violation(s"the offset goes back from $from to $until")
      if (until == from) {
        life.step(s"idle at $from")
        val _ = coordinator.figures(from)
        None
      } else {
        progress.begun(batch, until.json)
        progress.committedSince.foreach { end =>
          life.reach(CrashPoint.BeforeCommit)
          coordinator.committed(read(end))
          life.reach(CrashPoint.AfterCommit)
        }
        val start = consumed.map(at => read(at.json)).getOrElse(coordinator.initial())
        if (start != from) throw new Violation(s"batch $batch begins at $start and was measured from $from")
        execute(batch, from, until)
        progress.ended(batch)
        Some(batch + 1)
      }
    }

    /** Spark's real-time mode replays no batch: the next one begins where the last committed one ended. */
    private def forgetUncommitted(): Unit = {
      logs.rollBack(logs.lastCommitted, isCommitted = true)
      sink.forgetAfter(logs.lastCommitted)
    }

    /** Runs the next batch of real-time mode, whose end is logged after its tasks; answers the id of the batch after it. */
    private def timed(batch: Long, mode: RealTimeBatches): Long = {
      life.step(s"real-time batch $batch")
      val from = consumed.map(at => read(at.json)).getOrElse(coordinator.initial())
      coordinator.reported(reports)
      reports = Nil
      mode.begin(from)
      val tasks = mode.tasks(from)
      if (mode.tasks(from) != tasks) throw new Violation(s"batch $batch has other tasks when it is planned again")
      val (rows, unread) = running.timed(tasks.filter(_.ranges.nonEmpty))
      reports = reports ++ running.takeReports()
      sink.write(batch, rows)
      val until = mode.end(unread)
      if (!from.precedes(until)) throw new Violation(s"the offset goes back from $from to $until")
      progress.begun(batch, until.json)
      progress.committedSince.foreach(end => coordinator.committed(read(end)))
      consumed = Some(until)
      progress.ended(batch)
      life.met("a batch is ended by a time")
      if (rows.nonEmpty && unread.exists(!_.isOpen)) life.met("a time ends a batch of ranges with an end")
      val _ = coordinator.figures(until)
      batch + 1
    }

    private def execute(batch: Long, from: Position, until: Position): Unit = {
      val tasks = plan(from, until)
      plan(from, until)
      val rows = running.run(tasks)
      reports = reports ++ running.takeReports()
      sink.write(batch, rows)
      consumed = Some(until)
      val _ = coordinator.figures(until)
    }

    private def plan(from: Position, until: Position): Seq[TaskRanges] = {
      val tasks = coordinator.tasks(from, until)
      // Two drivers on one checkpoint may have layouts of their own, and the rows of the batch are the same in both.
      if (life.isResumed || isLossy) plans.forget(from, until) else plans.check(from, until, tasks)
      tasks
    }

    private def read(json: String): Position = {
      val progress = coordinator.position(json)
      if (progress.json != json) throw new Violation(s"the offset $json reads back as ${progress.json}")
      progress
    }
  }
}

private[splice] object SimulatedSpark {

  /** How many batches a drain may take; no history has as many rows. */
  val Patience = 2000
}
