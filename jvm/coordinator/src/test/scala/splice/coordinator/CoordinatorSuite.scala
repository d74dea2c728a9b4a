// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.coordinator

import java.time.{Clock, Duration, Instant, ZoneId, ZoneOffset}

import scala.collection.immutable.SortedMap

import org.scalatest.funsuite.AnyFunSuite

import splice.source._

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
      val made = new Coordinator(source, EnumeratorContext(log, ReadMode.Stream, clock, slots, "run"), slots, 100)
      made.open()
      made
    }
  }

  private def assignment(tasks: Seq[TaskRanges]): Map[String, Int] =
    tasks.flatMap(t => t.ranges.map(_.splitId -> t.slot.get)).toMap

  test("where the query begins is asked once, over any number of runs") {
    val world = new World
    val first = world.run(2).initial()
    world.ends = SortedMap(0 -> 99L)
    assert(world.run(2).initial() == first)
    assert(world.source.started == 1)
  }

  test("a batch that another source planned has the same tasks in each replay, whatever the cores") {
    val world = new World
    val start = CounterPosition(SortedMap.from((0 until 8).map(_ -> 4L)))
    val until = CounterPosition(SortedMap.from((0 until 8).map(_ -> 9L)))
    val tasks = world.run(2).tasks(start, until)
    assert(world.run(7).tasks(start, until) == tasks && tasks.map(_.ranges.size) == Seq(4, 4))
  }

  test("only a batch that this run did not plan is prepared for a replay, once and before its splits") {
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

  test("each slot has the same number of splits, and one task") {
    val world = new World
    val run   = world.run(3)
    val start = run.initial()
    val tasks = run.tasks(start, run.advance(start, everything = false))
    assert(tasks.map(_.ranges.size).sorted == Seq(2, 3, 3))
    assert(assignment(tasks).size == 8)
  }

  test("a replay has the tasks of the first try, whatever the cores of the new cluster") {
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

  test("a layout made for a batch that was never logged is the one that this batch gets") {
    val world = new World
    val run   = world.run(2)
    val start = run.initial()
    val until = run.advance(start, everything = false)
    val again = world.run(2)
    assert(again.advance(start, everything = false) == until)
    assert(again.tasks(start, until) == run.tasks(start, until))
  }

  test("new splits join the emptiest slots, and old ones stay") {
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

  test("a range over several batches is planned, also with a split that joined in between") {
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

  test("minRows holds a batch back, until maxDelay has passed") {
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
    assert(run.advance(one, everything = false) != one)
  }

  test("minRows holds nothing back once the ends are frozen") {
    val world = new World(Limits.Limited(minRows = Some(1000)))
    val run   = world.run(2)
    run.freeze()
    val start = run.initial()
    val one   = run.advance(start, everything = false)
    world.ends = world.ends.updated(0, 11L)
    assert(run.advance(one, everything = false) != one)
  }

  test("layouts that no batch needs any more are removed") {
    val world = new World
    var at    = world.run(2).initial()
    (1 to 3).foreach { i =>
      val run =
        new Coordinator(world.source, EnumeratorContext(world.log, ReadMode.Stream, world.clock, i, "run"), i, 2)
      run.open()
      world.ends = world.ends.map { case (p, n) => p -> (n + 1) }
      at = run.advance(at, everything = false)
      run.committed(at)
      world.ends = world.ends.map { case (p, n) => p -> (n + 1) }
      at = run.advance(at, everything = false)
      run.committed(at)
    }
    assert(world.log.keys("slots-").size == 1)
  }
}
