// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.coordinator.internal

import java.io.IOException
import java.time.{Clock, Duration, Instant, ZoneId, ZoneOffset}

import scala.collection.immutable.SortedMap

import org.apache.hadoop.fs.Path
import org.scalatest.funsuite.AnyFunSuite

import splice.coordinator.internal.sidelog.MemorySideLog
import splice.coordinator.internal.slots.SlotRules
import splice.source.errors.SpliceException
import splice.source.runtime.SideLog
import splice.source.{EnumeratorContext, Limits, Position, ReadMode, StoredStart, TaskRanges}

final class CoordinatorSuite extends AnyFunSuite {

  final private class Hands(var now: Instant) extends Clock {
    override def getZone: ZoneId               = ZoneOffset.UTC
    override def withZone(zone: ZoneId): Clock = this
    override def instant(): Instant            = now
  }

  final private class World(limits: Limits.Limited = Limits.NotSet) {
    var ends: SortedMap[Int, Long]   = SortedMap.from((0 until 8).map(_ -> 10L))
    val log                          = new MemorySideLog
    val clock                        = new Hands(Instant.EPOCH)
    val source                       = new CounterSource(() => ends, limits)
    def run(slots: Int): Coordinator = {
      val created = new Coordinator(source, EnumeratorContext(log, ReadMode.Stream, clock, slots, "run"), slots, 100)
      created.open()
      created
    }
  }

  private def assignment(tasks: Seq[TaskRanges]): Map[String, Int] =
    tasks.flatMap(t => t.ranges.map(_.splitId -> t.slot.get)).toMap

  test("the start position is computed once, across any number of runs") {
    val world = new World
    val first = world.run(2).initial()
    world.ends = SortedMap(0 -> 99L)
    assert(world.run(2).initial() == first)
    assert(world.source.started == 1)
  }

  test("the start position of a logged batch is not computed again if its entry is missing") {
    val world = new World
    val kept  = new Kept(2)
    val run   = retaining(world, 2, kept, 2)
    val start = run.initial()
    kept.add(run.advance(start, everything = false))
    assert(retaining(world, 2, kept, 2).initial() == start)
    world.log.remove("initial")
    val error = intercept[SpliceException](retaining(world, 2, kept, 2).initial())
    assert(error.getCondition == "SPLICE_CHECKPOINT.ENTRY_NOT_FOUND" && error.getMessage.contains("initial"))
    assert(world.source.started == 1 && world.log.get("initial").isEmpty)
    assert(retaining(world, 2, OffsetLog.Empty, 2).initial() == start)
  }

  test("an enumerator receives the stored start, including a start that another driver has stored first") {
    val world  = new World
    val before = new SideLog {
      override def get(key: String): Option[Seq[String]]                        = world.log.get(key)
      override def keys(prefix: String): Seq[String]                            = world.log.keys(prefix)
      override def remove(key: String): Unit                                    = world.log.remove(key)
      override def scope(name: String): SideLog                                 = world.log.scope(name)
      override def folder(name: String): Path                                   = world.log.folder(name)
      override def getOrCreate(key: String)(lines: => Seq[String]): Seq[String] = {
        val own = lines
        if (key == "initial") {
          world.ends = SortedMap(5 -> 99L)
          val _ = world.run(2).initial()
        }
        world.log.getOrCreate(key)(own)
      }
    }
    val context = EnumeratorContext(before, ReadMode.Stream, world.clock, 2, "late")
    val late    = new Coordinator(world.source, context, 2, 100)
    late.open()
    val stored = CounterPosition(SortedMap(5 -> 0L))
    assert(late.initial() == stored && world.run(2).initial() == stored)
    assert(world.source.closed == 1, "the enumerator with the other start is closed")
    val until = late.advance(stored, everything = false)
    assert(late.tasks(stored, until).nonEmpty && world.run(2).tasks(stored, until).nonEmpty)
    assert(world.source.starts == Vector(None, None, Some(StoredStart(stored.json)), Some(StoredStart(stored.json))))
  }

  test("a batch that another source planned has the same tasks in each replay, with any number of cores") {
    val world = new World
    val start = CounterPosition(SortedMap.from((0 until 8).map(_ -> 4L)))
    val until = CounterPosition(SortedMap.from((0 until 8).map(_ -> 9L)))
    val tasks = world.run(2).tasks(start, until)
    assert(world.run(7).tasks(start, until) == tasks && tasks.map(_.ranges.size) == Seq(4, 4))
  }

  test("only a batch of another run is prepared for a replay, once and before its splits are planned") {
    val world = new World
    val start = world.run(2).initial()
    val run   = world.run(2)
    val until = run.advance(start, everything = false)
    run.tasks(start, until)
    run.tasks(until, until)
    world.run(2).everything()
    assert(world.source.replayed.isEmpty)
    val again = world.run(2)
    again.tasks(again.position(start.json), again.position(until.json))
    again.tasks(start, until)
    assert(world.source.replayed == Vector(start -> until))
  }

  test("a batch has the layout that begins at its start, even if a later layout begins with fewer splits") {
    val world = new World
    val run   = world.run(2)
    val start = CounterPosition(SortedMap.from((0 until 8).map(_ -> 4L)))
    val until = run.advance(start, everything = false)
    val tasks = run.tasks(start, until)
    world.ends = world.ends.take(3)
    val fewer = CounterPosition(start.at.take(3))
    val later = world.run(3)
    later.tasks(fewer, later.advance(fewer, everything = false))
    assert(world.run(3).tasks(start, until) == tasks && tasks.size == 2)
  }

  test("each slot has the same number of splits, and one task") {
    val world = new World
    val run   = world.run(3)
    val start = run.initial()
    val tasks = run.tasks(start, run.advance(start, everything = false))
    assert(tasks.map(_.ranges.size).sorted == Seq(2, 3, 3))
    assert(assignment(tasks).size == 8)
  }

  test("a replay has the tasks of the first attempt, with any number of cores of the new cluster") {
    val world  = new World
    val before = world.run(2)
    val start  = before.initial()
    val until  = before.advance(start, everything = false)
    val tasks  = before.tasks(start, until)
    val after  = world.run(7)
    assert(after.tasks(start, until) == tasks)
    world.ends = world.ends.map { case (p, n) => p -> (n + 5) }
    val next = after.advance(until, everything = false)
    assert(after.tasks(until, next).size == 7)
    assert(world.run(2).tasks(start, until) == tasks, "the older batch keeps the older layout")
    assert(world.run(2).tasks(until, next) == after.tasks(until, next))
  }

  test("a batch that was planned but never logged keeps the layout of its first plan") {
    val world = new World
    val run   = world.run(2)
    val start = run.initial()
    val until = run.advance(start, everything = false)
    val again = world.run(2)
    assert(again.advance(start, everything = false) == until)
    assert(again.tasks(start, until) == run.tasks(start, until))
  }

  test("new splits are assigned to the emptiest slots, and old splits stay") {
    val world = new World
    val run   = world.run(3)
    val start = run.initial()
    val one   = run.advance(start, everything = false)
    val old   = assignment(run.tasks(start, one))
    world.ends = SortedMap.from((0 until 12).map(_ -> 20L))
    val two   = run.advance(one, everything = false)
    val fresh = assignment(run.tasks(one, two))
    assert(old.forall { case (split, slot) => fresh(split) == slot })
    assert(fresh.values.groupBy(identity).values.map(_.size).toSeq == Seq(4, 4, 4))
  }

  test("a range over several batches is planned, including a split that was added between them") {
    val world = new World
    val run   = world.run(3)
    val start = run.initial()
    val one   = run.advance(start, everything = false)
    world.ends = SortedMap.from((0 until 9).map(_ -> 20L))
    val two = run.advance(one, everything = false)
    val all = run.tasks(start, two)
    assert(assignment(all).keySet == (0 until 9).map(p => s"n-$p").toSet)
    assert(world.run(5).tasks(start, two) == all)
  }

  test("a range that begins before the first layout has the same tasks on every cluster") {
    val world = new World
    val run   = world.run(3)
    val start = run.initial()
    val one   = world.source.position("""{"0":1}""")
    val two   = run.advance(one, everything = false)
    assert(!one.precedes(start))
    val all = run.tasks(start, two)
    assert(all.size == 3)
    assert(world.run(5).tasks(start, two) == all)
  }

  test("minRows delays a batch until maxDelay has passed") {
    val world = new World(Limits.Limited(minRows = Some(50), maxDelay = Duration.ofMinutes(1)))
    val run   = world.run(2)
    val start = run.initial()
    val one   = run.advance(start, everything = false)
    assert(one != start, "the first batch does not wait")
    world.ends = world.ends.updated(0, 11L)
    assert(run.advance(one, everything = false) == one)
    world.clock.now = world.clock.now.plusSeconds(59)
    assert(run.advance(one, everything = false) == one)
    world.clock.now = world.clock.now.plusSeconds(1)
    val two = run.advance(one, everything = false)
    assert(two != one)
    world.ends = world.ends.updated(0, 12L)
    assert(run.advance(two, everything = false) == two, "the delay begins again with each batch")
  }

  test("minRows delays no batch after the ends are frozen") {
    val world = new World(Limits.Limited(minRows = Some(1000)))
    val run   = world.run(2)
    run.freeze()
    val start = run.initial()
    val one   = run.advance(start, everything = false)
    world.ends = world.ends.updated(0, 11L)
    assert(run.advance(one, everything = false) != one)
  }

  /** The offsets that Spark keeps: of the last batch, and of `retained` earlier batches. */
  final private class Kept(retained: Int) extends OffsetLog {
    private var ends: Vector[(Int, Position)] = Vector.empty
    def add(until: Position): Unit            =
      ends = (ends :+ (ends.lastOption.fold(0)(_._1 + 1) -> until)).takeRight(retained + 1)
    def all: Seq[Position]                = ends.map(_._2)
    override def latest(): Option[String] = ends.lastOption.map(_._2.json)
    override def oldest(): Option[String] = ends.headOption.filter(_._1 > 0).map(_._2.json)
  }

  private def retaining(world: World, slots: Int, kept: OffsetLog, retained: Int): Coordinator = {
    val context = EnumeratorContext(world.log, ReadMode.Stream, world.clock, slots, "run")
    new Coordinator(world.source, context, SlotRules(slots), retained, None, kept)
  }

  test("layouts are kept for the batches after the oldest offset that Spark keeps, and then removed") {
    val world    = new World
    val retained = 2
    val kept     = new Kept(retained)
    val run      = retaining(world, 2, kept, retained)
    val start    = run.initial()
    var at       = start
    var tasks    = Map.empty[(Position, Position), Seq[TaskRanges]]
    (1 to 5).foreach { i =>
      // Each batch has a new split and therefore a new layout.
      world.ends = world.ends.map { case (p, n) => p -> (n + 1) } + (7 + i -> 1L)
      val until = run.advance(at, everything = false)
      tasks += (at, until) -> run.tasks(at, until)
      kept.add(until)
      run.committed(until)
      at = until
      assert(world.log.keys("slots-").size == math.min(i, retained))
      // The first batch begins at the initial offset, which no log contains.
      val known = if (kept.oldest().isEmpty) start +: kept.all else kept.all
      known.zip(known.drop(1)).foreach { case (from, until) =>
        assert(retaining(world, 7, kept, retained).tasks(from, until) == tasks((from, until)))
      }
    }
  }

  test("a source keeps the entries that batches after the oldest offset of Spark need") {
    val world    = new World
    val retained = 2
    val kept     = new Kept(retained)
    val run      = retaining(world, 2, kept, retained)
    val batches  = (1 to 5).scanLeft(run.initial()) { (at, _) =>
      world.ends = world.ends.map { case (p, n) => p -> (n + 1) }
      val until = run.advance(at, everything = false)
      kept.add(until)
      run.committed(until)
      until
    }
    // The third commit is the first commit after which Spark removes an offset.
    assert(world.source.retained == batches.slice(1, 4))
  }

  test("an unreadable offset log fails no commit") {
    val world = new World
    val run   = retaining(
      world,
      2,
      new OffsetLog {
        override def latest(): Option[String] = None
        override def oldest(): Option[String] = throw new IOException("503")
      },
      retained = 2
    )
    val start = run.initial()
    run.committed(run.advance(start, everything = false))
    assert(world.log.keys("slots-").size == 1)
  }

  test("1,000 runs of one batch each on changing cores keep the layouts of the batches that Spark keeps") {
    val world    = new World
    val retained = 100
    val kept     = new Kept(retained)
    (1 to 1000).foreach { i =>
      val run = retaining(world, 1 + i % 3, kept, retained)
      run.open()
      world.ends = world.ends.map { case (p, n) => p -> (n + 1) }
      val before = kept.latest().map(world.source.position)
      val until  = run.advance(before.getOrElse(run.initial()), everything = false)
      before.foreach(run.committed)
      kept.add(until)
    }
    assert(world.log.keys("slots-").size <= retained + 2)
    assert(world.log.keys("").size <= retained + 5, "the number of other entries does not grow")
  }
}
