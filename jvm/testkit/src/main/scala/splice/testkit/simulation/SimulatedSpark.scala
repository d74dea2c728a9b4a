// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.testkit.simulation

import java.io.IOException

import scala.util.control.ControlThrowable

import org.apache.spark.sql.internal.SQLConf

import splice.coordinator.internal.slots.{CutRules, SlotRules}
import splice.coordinator.internal.{Coordinator, RealTimeBatches}
import splice.source.errors.SpliceException
import splice.source.options.SlotAssigner
import splice.source.runtime.{Report, ReportListeners, SideLog}
import splice.source.{EnumeratorContext, Position, ReadMode, TaskRanges}
import splice.testkit.internal.simulation._

/** Runs the batches of a query with the coordinator, in the call order of Spark's MicroBatchExecution.
  *
  * Durable state outlives [[run]]: the logs, the side log and the sink.
  *
  * @param sideLog
  *   opens the side log of the source for one run
  * @param asynchronous
  *   true if runs of many batches log offsets and commits late, and micro-batches not for every batch, like
  *   asynchronous progress tracking
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

  /** Rows that no restart reads again. */
  def settled: Iterator[Long] = sink.rowsUpTo(logs.lastCommitted)

  /** Offset of the last committed batch. */
  def lastCommitted: Option[String] = logs.committed.map(_._2)

  /** Offset of the last logged batch. */
  def lastLogged: Option[String] = logs.last.map(_._2)

  /** Last logged batch. */
  def lastBatch: Long = logs.last.fold(-1L)(_._1)

  /** Offset at which the next run begins to read; None before the first committed batch. */
  def resumesFrom: Option[String] = logs.resumesFrom

  /** True if the last logged batch is an epoch, after which Spark accepts no other trigger. */
  def isContinuous: Boolean = logs.last.exists(last => logs.isEpoch(last._1))

  /** Number of started drivers. */
  def drivers: Int = runs

  /** Allows changed plans of batches from now on, because records were lost. */
  def replan(): Unit = isLossy = true

  /** Deletes the newest offsets and commits with their rows in the sink, if the query can read its sources again from
    * an offset, or from its start. Returns true if the query was rolled back.
    */
  def rollBack(batches: Int)(canReadFrom: Option[String] => Boolean): Boolean = {
    val kept = logs.batches.dropRight(batches)
    // A repeated batch needs the offset of the previous batch.
    val isCommitted = kept.lastOption.exists(logs.isCommitted) && (kept.size < 2 || life.chance.oneIn(2))
    val from        = if (isCommitted) kept.lastOption else kept.dropRight(1).lastOption
    val isWhole     = logs.batches.headOption.contains(0L) && kept.isEmpty
    val isPossible  = if (isWhole) canReadFrom(None) else from.flatMap(logs.end).exists(end => canReadFrom(Some(end)))
    if (isPossible) {
      val batch = kept.lastOption.getOrElse(-1L)
      logs.rollBack(batch, isCommitted)
      sink.forgetAfter(if (isCommitted || isWhole) batch else batch - 1)
      life.met("rolled back")
      life.note(s"rolled back to batch $batch, ${if (isCommitted) "committed" else "not committed"}")
    }
    isPossible
  }

  /** Runs the query from its start to a stop. A kill ends the run with [[Crash]]. An exception of the source ends the
    * query. A driver that was frozen while another driver ran may fail for any reason, because another driver has
    * replaced it.
    */
  def run(trigger: SimulatedTrigger, cores: Int): Unit = {
    // A resumed driver may have stored entries that change the plans of another driver, if a policy accepts loss.
    if (life.isResumed) plans.keep(_ => false)
    life.begin()
    // Asynchronous progress tracking does not detect a second driver.
    if (!asynchronous) life.whenFrozen(() => another())
    try trigger match {
        case _: SimulatedTrigger.Continuous => driveContinuous(trigger, cores)
        case _                              => drive(trigger, cores)
      }
    catch { case ended: SimulatedSpark.Ended => throw ended.failure }
  }

  /** Runs the query in continuous mode. A start after an uncommitted batch of another trigger must be rejected. A run
    * of micro-batches then repeats the batch.
    */
  private def driveContinuous(trigger: SimulatedTrigger, cores: Int): Unit = {
    val others     = logs.uncommitted().filterNot(logs.isEpoch)
    val last       = logs.committed.map(_._2)
    val mustReject = last.nonEmpty && others.exists(logs.end(_) != last)
    val isRejected =
      try {
        drive(trigger, cores)
        false
      } catch { case _: SimulatedEpochs.Uncommitted => true }
    if (isRejected && others.isEmpty) throw new Violation("continuous mode is rejected without an uncommitted batch")
    if (!isRejected && mustReject) throw new Violation(s"continuous mode skips the batches ${others.mkString(", ")}")
    if (isRejected) {
      life.met("continuous mode is rejected after an uncommitted batch")
      drive(SimulatedTrigger.ProcessingTime(0), cores)
    }
  }

  /** Runs a second driver on the same checkpoint. A failure of the second driver fails the query. */
  private def another(): Unit = {
    try drive(SimulatedTrigger.ProcessingTime(life.chance.between(0, 4)), life.chance.between(1, 4))
    catch {
      case _: Crash           => ()
      case failure: Exception => throw new SimulatedSpark.Ended(failure)
    }
    // A frozen driver may be killed or may resume.
    if (life.chance.oneIn(3)) throw new Crash(CrashPoint.Frozen)
  }

  private def drive(trigger: SimulatedTrigger, cores: Int): Unit = {
    runs += 1
    val (number, name) = (runs, s"run-$runs")
    val steady         = Some(life.clock.steady)
    val mode           = if (trigger == SimulatedTrigger.Bounded) ReadMode.Batch else ReadMode.Stream
    plans.keep(logs.isLogged)
    val listeners   = new ReportListeners
    val coordinator = new Coordinator(
      subject.source(),
      EnumeratorContext(sideLog(), mode, life.clock, cores, name, durations = steady, listeners = listeners),
      rules(cores),
      retained,
      batches = logs,
      // The number of cores depends on the time. A random number would change all later choices of the seed.
      cores = Some(() => 1 + ((life.clock.steady.millis / 180000L + number) % 4).toInt)
    )
    life.step(s"$name: $trigger, $cores cores, logged ${logs.last}")
    SQLConf.withExistingConf(session(number))(drive(
      number,
      coordinator,
      new MicroBatches(coordinator, name, trigger, listeners)
    ))
  }

  /** Configuration of a run. Each start of a query may have other settings. */
  private def session(number: Int): SQLConf = {
    val conf = new SQLConf
    conf.setConf(SQLConf.SESSION_LOCAL_TIMEZONE, Seq("UTC", "Asia/Tokyo", "America/New_York")(number % 3))
    conf.setConf(SQLConf.ANSI_ENABLED, number % 2 == 0)
    conf
  }

  private def drive(number: Int, coordinator: Coordinator, batches: MicroBatches): Unit = {
    try {
      try batches.run()
      catch {
        case violation: Violation      => throw violation
        case failure: ControlThrowable => throw failure
        case failure: Throwable        =>
          life.note(s"run-$number fails: $failure")
          batches.stop()
          if (runs == number) throw failure
          life.met(failure match {
            case _: ConcurrentUpdate => "a frozen driver is stopped by Spark's log"
            case _                   => "a frozen driver fails"
          })
      }
      life.step(s"run-$number has stopped")
    } catch {
      case crash: ControlThrowable =>
        subject.killed()
        throw crash
    }
  }

  /** Task options of this run, which may differ from the options of the previous run. */
  private def rules(cores: Int): SlotRules = {
    val chance                    = life.chance
    def maybe[A](a: A): Option[A] = if (chance.oneIn(3)) Some(a) else None
    val slots                     = if (chance.oneIn(4)) chance.between(1, 4) else cores
    val cut                       =
      CutRules(maybe(chance.between(1, 3).toLong), maybe(chance.between(1, slots)), maybe(chance.between(1, 9).toLong))
    SlotRules(slots, chance.oneOf(SlotAssigner.all), if (chance.oneIn(2)) cut else CutRules.Never)
  }

  final private class MicroBatches(
      coordinator: Coordinator,
      name: String,
      trigger: SimulatedTrigger,
      listeners: ReportListeners
  ) {

    private val progress = new BatchLog(logs, life, asynchronous && trigger.isContinual, trigger.isTimed)
    private var consumed: Option[Position] = None
    private var reports: Seq[Report]       = Nil
    private val running                    =
      new SimulatedTasks(life, subject.same, subject.losesReports, listeners)(subject.rows(name, _))

    def run(): Unit = {
      if (trigger != SimulatedTrigger.Bounded) coordinator.open()
      trigger match {
        case SimulatedTrigger.Bounded =>
          val tasks = coordinator.everything()
          subject.frozen()
          coordinator.begun(tasks)
          sink.write(0, running.run(tasks))
          coordinator.close()
        case SimulatedTrigger.Continuous(steps) =>
          new SimulatedEpochs(life, coordinator, logs, sink, subject.rows(name, _)).run(steps)
          stop()
        case _ => runBatches()
      }
    }

    private def runBatches(): Unit = {
      if (trigger == SimulatedTrigger.AvailableNow) {
        coordinator.freeze()
        subject.frozen()
      }
      if (trigger.isTimed) forgetUncommitted()
      // A real-time batch reaches the sink before the log.
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
        case _ => throw new IllegalArgumentException(s"$trigger has no batches")
      }
      // Spark ends the asynchronous writes, and reports their commits, after Spark has stopped the sources.
      stop()
      progress.drain()
      progress.committedSince.foreach(end => coordinator.committed(read(end)))
    }

    /** Stops the source, as Spark does after success and failure. A failure of the stop does not fail the query. */
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

    /** Replays a started batch without a commit. Returns the id of the next batch. */
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
        batch + 1
    }

    /** Runs the next batch if data is available. Returns the id of the following batch. */
    private def construct(batch: Long): Option[Long] = {
      life.step(s"trigger, batch $batch")
      val from = consumed.map(at => read(at.json)).getOrElse(coordinator.initial())
      coordinator.reported(reports)
      reports = Nil
      val until = coordinator.advance(from, everything = trigger == SimulatedTrigger.Once)
      if (!from.precedes(until)) throw new Violation(s"the offset decreases from $from to $until")
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
        Some(batch + 1)
      }
    }

    /** Spark's real-time mode never replays a batch. The next batch begins at the end of the last committed batch. */
    private def forgetUncommitted(): Unit = {
      logs.rollBack(logs.lastCommitted, isCommitted = true)
      sink.forgetAfter(logs.lastCommitted)
    }

    /** Runs the next real-time batch, whose end is logged after its tasks. Returns the id of the following batch. */
    private def timed(batch: Long, mode: RealTimeBatches): Long = {
      life.step(s"real-time batch $batch")
      val from = consumed.map(at => read(at.json)).getOrElse(coordinator.initial())
      coordinator.reported(reports)
      reports = Nil
      mode.begin(from)
      val tasks = mode.tasks(from)
      if (mode.tasks(from) != tasks) throw new Violation(s"batch $batch has other tasks when it is planned again")
      coordinator.begun(tasks)
      val (rows, unread) = running.timed(tasks.filter(_.ranges.nonEmpty))
      reports = reports ++ running.takeReports()
      sink.write(batch, rows)
      val until = mode.end(unread)
      if (!from.precedes(until)) throw new Violation(s"the offset decreases from $from to $until")
      progress.begun(batch, until.json)
      progress.committedSince.foreach(end => coordinator.committed(read(end)))
      ended(batch, until)
      life.met("a batch is ended by a time")
      if (rows.nonEmpty && unread.exists(!_.isOpen)) life.met("a time ends a batch of ranges with an end")
      batch + 1
    }

    private def execute(batch: Long, from: Position, until: Position): Unit = {
      val tasks = plan(from, until)
      plan(from, until)
      coordinator.begun(tasks)
      val rows = running.run(tasks)
      reports = reports ++ running.takeReports()
      sink.write(batch, rows)
      ended(batch, until)
    }

    /** Spark commits the batch, and then asks the source for its progress. */
    private def ended(batch: Long, until: Position): Unit = {
      consumed = Some(until)
      progress.ended(batch)
      coordinator.reported(reports)
      reports = Nil
      val _ = coordinator.figures(until)
    }

    private def plan(from: Position, until: Position): Seq[TaskRanges] = {
      val tasks = coordinator.tasks(from, until)
      // Two drivers on one checkpoint may have different layouts, but the batch has the same rows in both layouts.
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

  /** Maximum number of batches of a drain. No scenario has as many rows. */
  val Patience = 2000

  /** Signals that the query failed in a second driver while the first driver was frozen. No handler of the code under
    * test may catch it.
    */
  final private class Ended(val failure: Throwable) extends ControlThrowable(s"ended by another driver: $failure")
}
