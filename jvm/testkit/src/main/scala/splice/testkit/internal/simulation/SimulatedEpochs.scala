// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.testkit.internal.simulation

import java.io.IOException

import scala.annotation.tailrec
import scala.collection.mutable

import splice.coordinator.internal.{Coordinator, Epochs, RealTimeBatches}
import splice.source.errors.SpliceException
import splice.source.{Position, SplitRange, TaskRanges}
import splice.testkit.simulation.{CrashPoint, Life, SimulatedSink, TaskRows, Violation}

/** Runs a query in the call order of Spark's ContinuousExecution and EpochCoordinator.
  *
  * Each task reads rows ahead, and ends each epoch at its own time. Spark logs the end of an epoch when all tasks have
  * reported their offsets. Spark commits an epoch to the sink and then to the log when all tasks have also committed
  * their rows, in the order of the epochs.
  */
final private[splice] class SimulatedEpochs(
    life: Life,
    coordinator: Coordinator,
    logs: SimulatedLogs,
    sink: SimulatedSink,
    open: TaskRanges => TaskRows
) {

  import SimulatedEpochs._

  private val chance = life.chance
  private val epochs =
    new Epochs(coordinator, batches, logs, () => life.clock.steady.millis * 1000000L)(new Uncommitted(_))
  private val messages                    = mutable.Map.empty[Long, Messages]
  private var tasks                       = Vector.empty[Task]
  private var current                     = 0L
  private var idle                        = 0
  private var committed: Option[Position] = None
  private var isReplacing                 = false
  private val kept                        = mutable.Set.empty[Long]
  private val carried                     = mutable.ArrayBuffer.empty[Long]

  private def batches: RealTimeBatches = {
    val mode = coordinator.realTime(() => Int.MaxValue)
      .getOrElse(throw new Violation("the source is not read in continuous mode"))
    mode.unsupportedLeg.foreach(leg => throw new Violation(s"$leg is not read in continuous mode"))
    mode
  }

  /** Runs for a number of steps of Spark's epoch thread. At the end of a scenario, runs until all rows are read. */
  def run(steps: Int): Unit =
    try {
      plan()
      proceed(steps)
    } finally tasks.foreach(_.close())

  /** Plans tasks from the last committed epoch on. Messages of earlier tasks have no further effect. */
  private def plan(): Unit = {
    tasks.foreach(_.close())
    tasks = Vector.empty
    messages.clear()
    carried.clear()
    val from = logs.committed.map(last => read(last._2)).getOrElse(coordinator.initial())
    epochs.begin(from)
    committed = Some(from)
    if (isReplacing) kept ++= logs.uncommitted()
    isReplacing = false
    if (sink.rowsAfter(logs.lastCommitted).nonEmpty) life.met("rows of an uncommitted epoch are read again")
    sink.forgetAfter(logs.lastCommitted)
    current = logs.lastCommitted + 1
    val planned = epochs.tasks(from)
    tasks = planned.map(task => new Task(if (task.ranges.isEmpty) NothingToRead else open(task), current)).toVector
    life.step(s"epoch $current begins at $from with ${tasks.size} tasks")
  }

  @tailrec private def proceed(left: Int): Unit = if (if (life.isCalm) idle < IdleEpochs else left > 0) {
    if (life.isCalm) tasks.foreach(_.readAll()) else act(6 * tasks.size)
    if (life.isCalm || current - logs.lastCommitted <= Backlog) {
      if (needTasks) {
        life.met("new tasks replace the tasks of continuous mode")
        isReplacing = true
        // Messages of the tasks may arrive before Spark has ended the tasks.
        act(3 * tasks.size)
        plan()
      } else current += 1
    }
    if (life.isCalm) tasks.foreach(_.endAll())
    proceed(left - 1)
  }

  private def act(most: Int): Unit = (1 to chance.between(0, most)).foreach { _ =>
    val task = chance.oneOf(tasks)
    chance.between(1, 6) match {
      case 1 | 2 => val _ = task.read()
      case 3 | 4 => val _ = task.take()
      case _     => task.end()
    }
    life.reach(CrashPoint.InTask)
  }

  // The simulated discovery sends its request in this call.
  private def needTasks: Boolean =
    try epochs.needTasks()
    catch { case _: SpliceException => false }

  private def of(epoch: Long): Messages = messages.getOrElseUpdate(epoch, new Messages)

  /** Receives the offset of a task at the end of an epoch. */
  private def reported(epoch: Long, offset: Unread): Unit = {
    val all = of(epoch)
    all.offsets += offset
    if (all.offsets.size == tasks.size) {
      val until = epochs.ended(all.offsets.toSeq.reverse.flatMap(_.ranges), Nil)
      logs.writeEpoch(epoch, until.json)
      all.isLogged = true
      commit()
    }
  }

  /** Receives the rows of a task in an epoch. */
  private def written(epoch: Long, rows: Seq[Long]): Unit = {
    val all = of(epoch)
    all.rows ++= rows
    all.commits += 1
    commit()
  }

  /** Commits all epochs whose messages have arrived. */
  @tailrec private def commit(): Unit = {
    val epoch = logs.lastCommitted + 1
    messages.get(epoch).filter(all => all.isLogged && all.commits == tasks.size) match {
      case Some(all) =>
        messages -= epoch
        commit(epoch, all.rows.toSeq)
        commit()
      case None => ()
    }
  }

  private def commit(epoch: Long, rows: Seq[Long]): Unit = {
    val until  = read(logs.end(epoch).getOrElse(throw new Violation(s"epoch $epoch has no end")))
    val before = committed
    before.filterNot(_.precedes(until)).foreach(at => throw new Violation(s"the offset decreases from $at to $until"))
    // Replaced tasks may log the end of an epoch, and Spark keeps this end for the epoch of the next tasks. Then the
    // next epoch includes the rows, unless the tasks are planned again first.
    val isAgain = before.contains(until) && rows.nonEmpty
    if (isAgain && !isReplacing && !kept(epoch))
      throw new Violation(s"epoch $epoch ends at $until, before its rows ${rows.mkString(",")}")
    if (isAgain) {
      life.met("the end of replaced tasks excludes rows")
      carried ++= rows
      sink.write(epoch, Nil)
    } else {
      sink.write(epoch, carried.toSeq ++ rows)
      carried.clear()
    }
    logs.writeCommit(epoch)
    committed = Some(until)
    idle = if (rows.isEmpty) idle + 1 else 0
    if (rows.nonEmpty) life.met("an epoch with rows is committed")
    try epochs.committed(until)
    catch {
      case failure @ (_: SpliceException | _: IOException) => life.note(s"the commit of epoch $epoch fails: $failure")
    }
    val _ = coordinator.figures(until)
  }

  private def read(json: String): Position = {
    val at = coordinator.position(json)
    if (at.json != json) throw new Violation(s"the offset $json reads back as ${at.json}")
    at
  }

  /** Task that reads until the query stops. Spark sends its messages in the order of its epochs. */
  final private class Task(reader: TaskRows, first: Long) {

    // The offset of the last row that was read.
    private var newest     = new Unread(reader.unread)
    private var last       = newest
    private var epoch      = first
    private var isReported = false
    private val ahead      = mutable.Queue.empty[(Long, Unread)]
    private val taken      = mutable.ArrayBuffer.empty[Long]

    /** Reads the next row ahead. Returns false if no row is available. */
    def read(): Boolean = ahead.size < Ahead && {
      val next = reader.nextNow()
      next match {
        case Some(id) =>
          newest = new Unread(reader.unread)
          ahead += id -> newest
        case None => newest.ranges = reader.unread
      }
      next.nonEmpty
    }

    /** Sends the next row to the sink. Returns false if no row was read ahead. */
    def take(): Boolean = !isReported && ahead.nonEmpty && {
      val (id, offset) = ahead.dequeue()
      taken += id
      last = offset
      true
    }

    /** Sends the next message at the end of an epoch: first the offset, then the rows. */
    def end(): Unit = if (epoch < current) {
      isReported = !isReported
      if (isReported) reported(epoch, last)
      else {
        val rows = taken.toSeq
        taken.clear()
        epoch += 1
        written(epoch - 1, rows)
      }
    }

    def readAll(): Unit = if (read() || take()) readAll()

    def endAll(): Unit = if (epoch < current) {
      end()
      endAll()
    }

    def close(): Unit = reader.close()
  }
}

private[splice] object SimulatedEpochs {

  /** Rejection of a start in continuous mode after uncommitted batches of another trigger. */
  final class Uncommitted(batches: Seq[Long]) extends RuntimeException(s"not committed: ${batches.mkString(", ")}")

  /** Unread ranges of a task after a row, until the next row. */
  final private class Unread(var ranges: Seq[SplitRange])

  final private class Messages {
    val offsets  = mutable.ArrayBuffer.empty[Unread]
    val rows     = mutable.ArrayBuffer.empty[Long]
    var commits  = 0
    var isLogged = false
  }

  private object NothingToRead extends TaskRows {
    override def next(): Option[Long]    = None
    override def unread: Seq[SplitRange] = Nil
    override def close(): Unit           = ()
  }

  // Number of rows that a task reads before Spark takes them.
  private val Ahead = 3

  // Number of epochs that may begin before the first of them is committed.
  private val Backlog = 3

  // Number of epochs without a row after which all rows are read.
  private val IdleEpochs = 12
}
