// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.testkit.simulation

import scala.collection.mutable
import scala.util.Try

import splice.source.runtime.{Report, ReportListeners}
import splice.source.{SplitRange, TaskRanges}

/** Reader of one task on an executor. */
trait TaskRows extends AutoCloseable {

  /** Id of the next row; None at the end. */
  def next(): Option[Long]

  /** Id of the next row in a real-time batch, if a row is available now; None also at the end. */
  def nextNow(): Option[Long] = next()

  /** True if the last call has reached the end. */
  def hasEnded: Boolean = true

  /** Unread ranges. */
  def unread: Seq[SplitRange] = throw new UnsupportedOperationException(s"$this is read to its end only")

  /** Reports of the reader at its end. */
  def reports: Seq[Report] = Nil
}

/** Runs the tasks of each batch of one driver concurrently, row by row, with failed attempts, speculative copies and
  * second reads. An attempt that loses to a copy may outlive its batch and close its reader late.
  */
final class SimulatedTasks(life: Life, same: SameRows, losesReports: Boolean, listeners: ReportListeners)(
    open: TaskRanges => TaskRows
) {

  private val chance = life.chance

  private val received = mutable.ArrayBuffer.empty[Report]

  // Attempts that outlive their batch, with the expected rows.
  private val late = mutable.ArrayBuffer.empty[(Attempt, Seq[Long])]

  /** Reports that arrived at the driver since the last call. */
  def takeReports(): Seq[Report] = {
    val all = received.toSeq
    received.clear()
    all
  }

  private def receive(reports: Seq[Report]): Unit = if (life.isCalm || !losesReports || !chance.oneIn(8)) {
    received ++= reports
    reports.foreach(listeners.receive)
  }

  /** Stops the driver and its executors. */
  def stop(): Seq[Report] = {
    late.foreach(_._1.close())
    late.clear()
    takeReports()
  }

  /** Runs a batch. Returns the ids of all rows. */
  def run(tasks: Seq[TaskRanges]): Seq[Long] = {
    val rows = read(tasks)
    if (!life.isCalm && chance.oneIn(20)) {
      life.step("the batch is read a second time")
      val again = read(tasks)
      if (!same(rows, again)) throw new Violation(s"read twice: ${rows.sorted} and ${again.sorted}")
    }
    rows
  }

  /** Runs a real-time batch. Returns the ids of its rows and the unread ranges. A task ends at any point or without
    * available rows.
    */
  def timed(tasks: Seq[TaskRanges]): (Seq[Long], Seq[SplitRange]) = {
    val running = mutable.ArrayBuffer.from(tasks.map(task => open(task)))
    val rows    = mutable.ArrayBuffer.empty[Long]
    val unread  = mutable.ArrayBuffer.empty[SplitRange]
    while (running.nonEmpty) {
      val task = chance.oneOf(running.toSeq)
      val next = if (chance.oneIn(SimulatedTasks.TimeEndsOneIn)) None else task.nextNow()
      rows ++= next
      if (next.isEmpty) {
        unread ++= task.unread
        val reports = task.reports
        task.close()
        running -= task
        receive(reports)
        life.step("the time of a task is over, or it has no row")
      }
      life.reach(CrashPoint.InTask)
    }
    (rows.toSeq, unread.toSeq)
  }

  final private class Attempt(val task: Int, val number: Int, reader: TaskRows, failsAt: Int) {
    private val read    = mutable.ArrayBuffer.empty[Long]
    def rows: Seq[Long] = read.toSeq
    def close(): Unit   = reader.close()

    def reports: Seq[Report] = reader.reports

    /** Reads the next row. Returns true at the end. */
    def proceed(): Boolean = {
      if (read.size == failsAt) throw new TaskFailure(s"attempt $number of task $task fails")
      reader.next().fold(true) { id =>
        read += id
        false
      }
    }
  }

  /** Continues an attempt of an earlier batch, which reads its next row, fails or ends. The driver may still accept
    * its reports.
    */
  private def proceedLate(): Unit = if (late.nonEmpty && chance.oneIn(2)) {
    val (attempt, expected) = chance.oneOf(late.toSeq)
    val result              = Try(attempt.proceed())
    result.failed.foreach { case violation: Violation => throw violation; case _ => () }
    if (result.getOrElse(true)) {
      val isComplete = result.isSuccess
      if (isComplete && !same(expected, attempt.rows))
        throw new Violation(s"a late attempt read ${attempt.rows} in place of $expected")
      if (isComplete && chance.oneIn(2)) received ++= attempt.reports
      late -= attempt -> expected
      attempt.close()
      life.met("a task ends after its batch")
      life.step(s"a late attempt of task ${attempt.task} ends")
    }
  }

  private def read(tasks: Seq[TaskRanges]): Seq[Long] = {
    val results  = mutable.Map.empty[Int, Seq[Long]]
    val attempts = Array.fill(tasks.size)(0)
    val waiting  = mutable.Queue.from(tasks.indices)
    val running  = mutable.ArrayBuffer.empty[Attempt]

    def start(task: Int): Unit = {
      attempts(task) += 1
      val fails = !life.isCalm && attempts(task) < 4 && chance.oneIn(12)
      running += new Attempt(task, attempts(task), open(tasks(task)), if (fails) chance.between(0, 3) else -1)
    }

    def finish(attempt: Attempt, reports: Seq[Report]): Unit = results.get(attempt.task) match {
      case Some(before) if !same(before, attempt.rows) =>
        throw new Violation(s"two attempts of one task read $before and ${attempt.rows}")
      case Some(_) =>
      case None    =>
        results += attempt.task -> attempt.rows
        receive(reports)
        life.step(s"task ${attempt.task}: ${attempt.rows.mkString(",")}")
    }

    while (waiting.nonEmpty || running.nonEmpty) {
      while (running.size < SimulatedTasks.AtOnce && waiting.nonEmpty) start(waiting.dequeue())
      val attempt = chance.oneOf(running.toSeq)
      if (!life.isCalm && running.size <= SimulatedTasks.AtOnce && !results.contains(attempt.task) && chance.oneIn(60))
        start(attempt.task)
      // An attempt that loses to a copy is killed in most cases, but may also reach its end.
      val beaten = results.contains(attempt.task) && chance.oneIn(2)
      val ended  =
        try beaten || attempt.proceed()
        catch {
          case failure: TaskFailure =>
            life.step(failure.getMessage)
            attempt.close()
            running -= attempt
            if (!results.contains(attempt.task) && !running.exists(_.task == attempt.task)) waiting += attempt.task
            false
        }
      if (ended) {
        val reports = if (beaten) Nil else attempt.reports
        attempt.close()
        running -= attempt
        if (!beaten) finish(attempt, reports)
      }
      if (waiting.isEmpty && running.nonEmpty && tasks.indices.forall(results.contains) && chance.oneIn(2)) {
        late ++= running.map(left => left -> results(left.task))
        running.clear()
      }
      proceedLate()
      life.reach(CrashPoint.InTask)
    }
    tasks.indices.flatMap(results)
  }
}

private[simulation] object SimulatedTasks {
  val AtOnce = 2

  val TimeEndsOneIn = 12
}
