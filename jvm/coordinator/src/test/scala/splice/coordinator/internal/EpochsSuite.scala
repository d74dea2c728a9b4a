// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.coordinator.internal

import java.time.Clock

import scala.collection.immutable.SortedMap
import scala.collection.mutable

import org.apache.spark.sql.types.StructType
import org.scalatest.funsuite.AnyFunSuite

import splice.coordinator.internal.sidelog.MemorySideLog
import splice.coordinator.internal.slots.SlotRules
import splice.source._
import splice.source.runtime.OpenEnded

/** The start of a run in continuous mode after uncommitted epochs and batches. */
final class EpochsSuite extends AnyFunSuite {

  final private class Rejected(val batches: Seq[Long]) extends RuntimeException

  /** A log with offsets of a source of one split. The numbers of epochs are in `epochs`. */
  final private class World(offsets: (Long, Long)*)(epochs: Long*) extends EpochLog {
    val logged: mutable.SortedMap[Long, Long] = mutable.SortedMap.from(offsets)

    override def uncommitted(): Seq[Long]         = logged.keys.filter(_ > 0).toSeq
    override def end(batch: Long): Option[String] = logged.get(batch).map(at(_).json)
    override def isEpoch(batch: Long): Boolean    = epochs.contains(batch)
    override def remove(batch: Long): Unit        = { val _ = logged.remove(batch) }

    private val source      = new CounterSource(() => SortedMap(0 -> 100L), Limits.NotSet)
    private val context     = EnumeratorContext(new MemorySideLog, ReadMode.Stream, Clock.systemUTC(), 1, "run")
    private val coordinator = new Coordinator(source, context, 1, 100)

    def run(): Epochs = run(fail("a start reads no range"))

    def run(enumerator: => OpenEnded[Position]): Epochs = {
      val batches = new RealTimeBatches(enumerator, _ => _ => false, () => SlotRules(1), () => 1)
      new Epochs(coordinator, batches, this, () => 0L)(new Rejected(_))
    }

    def begin(start: Long): Unit = run().begin(at(start))
  }

  private def at(offset: Long): CounterPosition = CounterPosition(SortedMap(0 -> offset))

  /** A source with an end, whose remaining records retention has removed. */
  private object Removed extends SplitEnumerator[Position] with OpenEnded[Position] {
    override def settle(from: Position): Position                                          = at(9)
    override def open(settled: Position): Seq[SplitRange]                                  = Nil
    override def reached(settled: Position, unread: Seq[SplitRange]): Position             = settled
    override def start(of: StartPosition): Position                                        = at(0)
    override def advance(from: Position, limits: Limits): Position                         = from
    override def splits(from: Position, until: Position): Seq[SplitRange]                  = Nil
    override def readers(columns: StructType, ranges: Seq[SplitRange]): SplitReaderFactory =
      throw new UnsupportedOperationException
  }

  test("a start removes all uncommitted epochs, and warns of those with rows") {
    val world    = new World(0L -> 5L, 1L -> 5L, 2L -> 9L)(1L, 2L)
    val warnings = Warnings.during(classOf[Epochs].getName)(world.begin(5))
    assert(warnings.size == 1 && warnings.head.contains("reads rows of epoch 2 again"))
    assert(world.logged.keySet == Set(0L), "the next epoch 1 would keep the end of the old epoch")
  }

  test("a start removes an uncommitted batch without rows, and rejects an uncommitted batch with rows") {
    val idle = new World(0L -> 5L, 1L -> 5L)()
    idle.begin(5)
    assert(idle.logged.keySet == Set(0L))
    val world = new World(0L -> 5L, 1L -> 9L)()
    assert(intercept[Rejected](world.begin(5)).batches == Seq(1L))
    assert(world.logged.keySet == Set(0L, 1L))
  }

  test("new tasks of a run keep the end that replaced tasks have logged") {
    val world = new World(0L -> 5L)(1L)
    val run   = world.run()
    run.begin(at(5))
    world.logged(1) = 5
    run.begin(at(5))
    assert(world.logged.keySet == Set(0L, 1L))
  }

  test("new tasks replace tasks without ranges once, if no task reads the offsets up to the end of their epoch") {
    val run                    = new World(0L -> 5L)().run(Removed)
    def commit(from: Position) = {
      run.begin(from)
      assert(run.tasks(from).flatMap(_.ranges).isEmpty)
      val end = run.ended(Nil, Nil)
      assert(!run.needTasks(), "the epoch is not committed")
      run.committed(end)
      end
    }
    val end = commit(at(5))
    assert(end == at(9) && run.needTasks())
    assert(commit(end) == end && !run.needTasks())
  }
}
