// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.testkit

import java.time.Clock

import scala.annotation.tailrec
import scala.util.Using

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.StructType
import org.scalatest.funsuite.AnyFunSuite

import splice.coordinator.internal.Coordinator
import splice.coordinator.internal.sidelog.MemorySideLog
import splice.source._
import splice.source.errors.SpliceException
import splice.source.runtime.{ProgressMetric, SessionSettings, SideLog}

/** Contract tests for every source. A connector implements the creation of a source and of further rows. */
trait SourceContract extends AnyFunSuite {

  /** Session that reads the source. */
  protected def spark: SparkSession

  /** Clock of the runs of the source. */
  protected def clock: Clock = Clock.systemUTC()

  /** Source with separate data. */
  protected trait World {

    /** Creates the source from its options, as a restart does. */
    def source(): Source[_ <: Position]

    /** Adds data that an unbounded source discovers later. A bounded source fixes its data at its start and ignores
      * new data.
      */
    def grow(): Unit

    /** Creates the source while its servers and folders are unavailable. */
    def unavailable(): Source[_ <: Position] = source()
  }

  /** Creates a source with some rows. */
  protected def world(): World

  /** Offset of another kind of source. */
  protected def foreignOffset: String = """{"some":"thing","v":1}"""

  /** True if the plans of batches are opaque objects in memory, so that only a run that has planned a batch has its
    * ranges. The contract then does not require pure `splits`.
    */
  protected def plansAreOpaque: Boolean = false

  private[testkit] def run(world: World, log: SideLog, cores: Int = 2): Coordinator = {
    val context = EnumeratorContext(log, ReadMode.Stream, clock, cores, "contract")
    val created = new Coordinator(world.source(), context, cores, batchesToRetain = 100)
    created.open()
    created
  }

  /** Position after all available data. A source with several parts may stop at the end of each part. */
  @tailrec final private[testkit] def exhausted(c: Coordinator, at: Position): Position = {
    val next = c.advance(at, everything = true)
    if (next == at) at else exhausted(c, next)
  }

  /** Reads a batch in tasks of the session. Returns each row as text. */
  private[testkit] def rows(c: Coordinator, columns: StructType, tasks: Seq[TaskRanges], takeOnly: Int = Int.MaxValue)
      : Seq[String] = {
    val readers = c.readers(columns, tasks)
    val jobs    = spark.sparkContext.parallelize(tasks, math.max(tasks.size, 1))
    jobs.flatMap(task => SourceContract.read(readers, task, columns, takeOnly)).collect().toSeq.sorted
  }

  test("contract: the initial position is stable across calls and restarts") {
    val setup = world()
    val log   = new MemorySideLog
    val first = Using.resource(run(setup, log))(_.initial())
    setup.grow()
    Using.resource(run(setup, log)) { again =>
      assert(again.initial() == first)
      assert(again.initial().json == first.json)
    }
  }

  test("contract: a position equals its parsed JSON") {
    val setup = world()
    Using.resource(run(setup, new MemorySideLog)) { c =>
      val start = c.initial()
      val until = c.advance(start, everything = true)
      Seq(start, until).foreach { p =>
        assert(c.position(p.json) == p)
        assert(setup.source().position(p.json).json == p.json)
        assert(!p.json.contains('\n'))
      }
      assert(start != until)
      assert(start.precedes(until) && start.precedes(start) && !until.precedes(start))
    }
  }

  test("contract: an invalid or foreign position is rejected") {
    val source = world().source()
    Seq("", "{", "7", "\"text\"", foreignOffset).foreach { text =>
      val error = intercept[SpliceException](source.position(text))
      assert(error.getCondition.startsWith("SPLICE_CHECKPOINT."), text)
    }
  }

  test("contract: the same positions produce the same tasks and rows, including after a restart with other cores") {
    val setup                       = world()
    val log                         = new MemorySideLog
    val columns                     = setup.source().schema
    val (start, until, tasks, read) = Using.resource(run(setup, log)) { c =>
      val start = c.initial()
      val until = c.advance(start, everything = true)
      val tasks = c.tasks(start, until)
      (start, until, tasks, rows(c, columns, tasks))
    }
    assert(read.nonEmpty)
    setup.grow()
    Using.resource(run(setup, log, cores = 5)) { c =>
      val again = c.tasks(c.position(start.json), c.position(until.json))
      assert(again == tasks && c.tasks(start, until) == tasks)
      assert(rows(c, columns, again) == read)
      assert(rows(c, columns, tasks) == read)
    }
  }

  test("contract: a range over two batches has the same rows as the two batches") {
    val setup = world()
    Using.resource(run(setup, new MemorySideLog)) { c =>
      val start  = c.initial()
      val middle = c.advance(start, everything = true)
      setup.grow()
      val until   = c.advance(middle, everything = true)
      val columns = setup.source().schema
      val apart   = rows(c, columns, c.tasks(start, middle)) ++ rows(c, columns, c.tasks(middle, until))
      val across  = rows(c, columns, c.tasks(start, until))
      assert(across == apart.sorted)
    }
  }

  if (!plansAreOpaque)
    test("contract: splits does not write, needs no server, and returns the same ranges in every run and order") {
      val setup   = world()
      val log     = new MemorySideLog
      val planned = Using.resource(run(setup, log)) { c =>
        val begin     = exhausted(c, c.initial())
        val positions = c.initial() +: (1 to 2).scanLeft(begin) { (at, _) =>
          setup.grow()
          exhausted(c, at)
        }
        for {
          from  <- positions
          until <- positions if from.precedes(until)
        } yield (from, until, c.ranges(from, until))
      }
      assert(planned.exists(_._3.nonEmpty))
      val source  = setup.unavailable()
      val context = EnumeratorContext(new ReadOnlySideLog(log), ReadMode.Stream, clock, 2, "pure")
      Using.resource(SplitEnumerator.untyped(source, context.copy(session = SessionSettings.pinned(log)))) {
        enumerator =>
          (planned ++ planned.reverse).foreach { case (from, until, ranges) =>
            assert(enumerator.splits(source.position(from.json), source.position(until.json)) == ranges)
          }
      }
    }

  test("contract: without new data, the position does not advance and no task is planned") {
    val setup = world()
    Using.resource(run(setup, new MemorySideLog)) { c =>
      val until = exhausted(c, c.initial())
      assert(c.advance(until, everything = false) == until)
      assert(c.tasks(until, until).isEmpty)
    }
  }

  test("contract: a retried task reads the same rows") {
    val setup = world()
    Using.resource(run(setup, new MemorySideLog)) { c =>
      val start   = c.initial()
      val columns = setup.source().schema
      val tasks   = c.tasks(start, c.advance(start, everything = true))
      val read    = rows(c, columns, tasks)
      rows(c, columns, tasks, takeOnly = 1)
      assert(rows(c, columns, tasks) == read)
    }
  }

  test("contract: a commit may be late, repeated, or for a position of an earlier run") {
    val setup = world()
    val log   = new MemorySideLog
    val until = Using.resource(run(setup, log)) { c =>
      val until = exhausted(c, c.initial())
      c.committed(until)
      c.committed(until)
      until
    }
    Using.resource(run(setup, log)) { c =>
      val start   = c.initial()
      val columns = setup.source().schema
      val all     = c.tasks(start, until)
      val read    = rows(c, columns, all)
      setup.grow()
      val next = exhausted(c, until)
      val last = rows(c, columns, c.tasks(until, next))
      c.committed(next)
      c.committed(until)
      assert(c.tasks(start, until) == all && rows(c, columns, all) == read, "a commit of an earlier run")
      assert(rows(c, columns, c.tasks(until, next)) == last, "a late commit")
      assert(c.advance(next, everything = true) == next)
    }
  }

  test("contract: freeze fixes the ends") {
    val setup = world()
    Using.resource(run(setup, new MemorySideLog)) { c =>
      c.freeze()
      val start = c.initial()
      setup.grow()
      val until = exhausted(c, start)
      setup.grow()
      assert(c.advance(until, everything = false) == until)
    }
  }

  test("contract: the progress report has the position") {
    val setup = world()
    Using.resource(run(setup, new MemorySideLog)) { c =>
      val start           = c.initial()
      val until           = exhausted(c, start)
      def at(p: Position) = c.figures(p).getOrElse(ProgressMetric.Position, fail("no position"))
      assert(at(start).nonEmpty && at(until).nonEmpty)
      assert(at(start) != at(until), "the report has the requested position")
    }
  }
}

object SourceContract {

  /** Reads the rows of a task. Runs on an executor. */
  private[testkit] def read(
      readers: SplitReaderFactory,
      task: TaskRanges,
      columns: StructType,
      takeOnly: Int
  ): Seq[String] =
    Using.resource(readers.rows(task)) { reader =>
      SplitReader
        .items(reader)
        .map(text(_, columns))
        .take(takeOnly)
        .toSeq
    }

  private[testkit] def text(row: InternalRow, columns: StructType): String =
    columns.indices.map(i => cell(row.get(i, columns(i).dataType))).mkString("|")

  private def cell(value: Any): String = value match {
    case bytes: Array[Byte] => bytes.mkString("[", ",", "]")
    case other              => String.valueOf(other)
  }
}
