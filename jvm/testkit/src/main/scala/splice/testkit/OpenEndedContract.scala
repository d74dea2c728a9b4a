// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.testkit

import java.time.Duration
import java.util.concurrent.atomic.AtomicInteger

import scala.annotation.tailrec
import scala.util.{Random, Using}

import org.apache.spark.sql.types.StructType

import splice.coordinator.internal.sidelog.MemorySideLog
import splice.coordinator.internal.{Coordinator, RealTimeBatches}
import splice.source.runtime.SideLog
import splice.source.{Poll, Position, SplitRange, SplitReaderFactory, TaskRanges}

/** Contract of every source whose splits can be read without an end ([[OpenEnded]]). In Spark's real-time mode, a time
  * ends a batch after any row of each task. In continuous mode, a time ends an epoch in the same way, and its tasks
  * continue to read.
  */
trait OpenEndedContract extends SourceContract {

  import OpenEndedContract._

  private def mode(c: Coordinator): RealTimeBatches =
    c.realTime(() => Int.MaxValue).getOrElse(fail("the source is not read without an end"))

  /** Rows and unread ranges of each task of a batch. Each task reads until a poll returns no row.
    *
    * @param count
    *   number of rows after which tasks without a row end soon
    */
  private def read(
      c: Coordinator,
      open: RealTimeBatches,
      columns: StructType,
      from: Position,
      count: Int = Int.MaxValue
  ): Seq[TaskSteps] = {
    open.begin(from)
    val tasks = open.tasks(from)
    assert(open.tasks(from) == tasks, "Spark plans a batch more than once")
    val readers = c.readers(columns, tasks)
    val busy    = tasks.filter(_.ranges.nonEmpty)
    OpenEndedContract.found.set(0)
    spark.sparkContext.parallelize(busy, math.max(busy.size, 1))
      .map(task => OpenEndedContract.read(readers, task, columns, count)).collect().toSeq
  }

  /** Rows of consecutive batches that begin at a position. Stops after a batch without rows if there are at least
    * `count` rows.
    */
  private def timed(c: Coordinator, columns: StructType, from: Position, count: Int): Seq[String] = {
    val open                                                                     = mode(c)
    @tailrec def batches(at: Position, out: Seq[String], left: Int): Seq[String] =
      if (left == 0) out
      else {
        val parts = read(c, open, columns, at, count - out.size)
        val until = open.end(parts.flatMap(_.unread(Int.MaxValue)))
        assert(at.precedes(until))
        val rows = out ++ parts.flatMap(_.rows)
        // A batch without rows shows that no more rows exist.
        if (rows.size >= count && until == at) rows else batches(until, rows, left - 1)
      }
    batches(from, Nil, Batches)
  }

  private def bounded(c: Coordinator, columns: StructType, from: Position): Seq[String] =
    rows(c, columns, c.tasks(from, exhausted(c, from)))

  /** All rows that a query with this log reads now. */
  private def all(setup: World, log: SideLog = new MemorySideLog): Seq[String] =
    Using.resource(run(setup, log))(c => bounded(c, setup.source().schema, c.initial()))

  test("contract: a time may end a batch after any row of each task, and each trigger continues with the next row") {
    val setup   = world()
    val columns = setup.source().schema
    val whole   = all(setup)
    val log     = new MemorySideLog
    val ends    = Using.resource(run(setup, log)) { c =>
      val open  = mode(c)
      val start = c.initial()
      val parts = read(c, open, columns, start, whole.size)
      assert(parts.exists(_.rows.nonEmpty))
      val random = new Random(1)
      val cuts   = Seq(parts.map(_ => 0), parts.map(_.rows.size)) ++
        Seq.fill(3)(parts.map(part => random.nextInt(part.rows.size + 1)))
      cuts.map { cut =>
        val until = open.end(parts.zip(cut).flatMap { case (part, n) => part.unread(n) })
        assert(start.precedes(until) && c.position(until.json) == until)
        until.json -> parts.zip(cut).flatMap { case (part, n) => part.rows.take(n) }
      }
    }
    ends.zipWithIndex.foreach { case ((end, before), i) =>
      Using.resource(run(setup, log, cores = 1 + i)) { c =>
        val from  = c.position(end)
        val after = if (i % 2 == 0) timed(c, columns, from, whole.size - before.size) else bounded(c, columns, from)
        assert((before ++ after).sorted == whole, s"the rows before and after $end")
      }
    }
  }

  test("contract: epochs follow one another, and a restart reads each row after the committed epoch once") {
    val setup             = world()
    val columns           = setup.source().schema
    val log               = new MemorySideLog
    val (end, done, read) = Using.resource(run(setup, log)) { c =>
      val open   = mode(c)
      val start  = c.initial()
      val parts  = this.read(c, open, columns, start)
      val epochs = (0 to Epochs).map { epoch =>
        val cut = parts.zipWithIndex.map { case (part, i) => part.rows.size * epoch / (Epochs + i % 2) }
        open.end(parts.zip(cut).flatMap { case (part, n) => part.unread(n) }) ->
          parts.zip(cut).flatMap { case (part, n) => part.rows.take(n) }
      }
      epochs.zip(epochs.drop(1)).foreach { case ((earlier, _), (later, _)) => assert(earlier.precedes(later)) }
      // Spark commits an epoch while tasks read the next epoch.
      epochs.take(Epochs).foreach { case (at, _) => c.committed(at) }
      val (committed, rows) = epochs(Epochs - 1)
      (committed.json, rows, epochs.last._2)
    }
    setup.grow()
    val whole = all(setup, log)
    Using.resource(run(setup, log, cores = 3)) { c =>
      val after = timed(c, columns, c.position(end), whole.size - done.size)
      assert((done ++ after).sorted == whole)
      // Rows of the uncommitted epoch are read again.
      assert(read.diff(done).forall(after.contains))
    }
  }

  test("contract: the ranges without an end are the same in each run that begins at the same position") {
    val setup              = world()
    val log                = new MemorySideLog
    def ranges(cores: Int) = Using.resource(run(setup, log, cores)) { c =>
      val open = mode(c)
      open.begin(c.initial())
      open.tasks(c.initial()).flatMap(_.ranges).toSet
    }
    val first = ranges(2)
    assert(first.nonEmpty && ranges(5) == first)
  }
}

private object OpenEndedContract {

  private val Epochs  = 3
  private val Batches = 60

  // A broker may take some time for its first response.
  private val Patience = Duration.ofMillis(200)
  private val Polls    = 25
  private val Fewest   = 5

  // Number of rows of a batch. Tasks of a local session count in this object.
  private val found = new AtomicInteger

  /** Rows and unread ranges of one task.
    *
    * @param left
    *   unread ranges before the first row, and after each row
    * @param atEnd
    *   unread ranges at the end
    */
  final case class TaskSteps(rows: Seq[String], left: Seq[Seq[SplitRange]], atEnd: Seq[SplitRange]) {

    /** Unread ranges after a number of rows. */
    def unread(after: Int): Seq[SplitRange] = if (after >= rows.size) atEnd else left(after)
  }

  /** Reads a task with polls of limited patience. Runs on an executor. */
  def read(readers: SplitReaderFactory, task: TaskRanges, columns: StructType, count: Int): TaskSteps =
    Using.resource(readers.rows(task)) { reader =>
      @tailrec def steps(rows: Vector[String], left: Vector[Seq[SplitRange]], polls: Int): TaskSteps =
        reader.poll(Patience) match {
          case Poll.Found =>
            val _ = found.incrementAndGet()
            steps(rows :+ SourceContract.text(reader.get(), columns), left :+ reader.unread, polls)
          case Poll.Pending if rows.isEmpty && polls > (if (found.get < count) 0 else Polls - Fewest) =>
            steps(rows, left, polls - 1)
          case _ => TaskSteps(rows, left, reader.unread)
        }
      steps(Vector.empty, Vector(reader.unread), Polls)
    }
}
