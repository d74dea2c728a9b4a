// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.coordinator.internal

import java.time.{Clock, Duration, Instant, ZoneId, ZoneOffset}

import scala.collection.immutable.SortedMap

import org.scalatest.funsuite.AnyFunSuite

import splice.coordinator.internal.sidelog.MemorySideLog
import splice.coordinator.internal.slots.{CutRules, SlotRules}
import splice.source.options.SlotAssigner
import splice.source.{EnumeratorContext, Limits, Position, ReadMode, TaskRanges}

/** The number of slots follows the cores of a cluster. */
final class FollowedCoresSuite extends AnyFunSuite {

  final private class Hands extends Clock {
    var now                                    = Instant.parse("2026-01-01T00:00:00Z")
    override def getZone: ZoneId               = ZoneOffset.UTC
    override def withZone(zone: ZoneId): Clock = this
    override def instant(): Instant            = now
  }

  final private class Logged(retained: Int) extends OffsetLog {
    private var ends: Vector[(Int, Position)] = Vector.empty
    def add(until: Position): Unit            =
      ends = (ends :+ (ends.lastOption.fold(0)(_._1 + 1) -> until)).takeRight(retained + 1)
    override def latest(): Option[String] = ends.lastOption.map(_._2.json)
    override def oldest(): Option[String] = ends.headOption.filter(_._1 > 0).map(_._2.json)
  }

  final private class World(var cores: Int, retained: Int = 100, rules: Int => SlotRules = SlotRules(_)) {
    var ends: SortedMap[Int, Long] = SortedMap.from((0 until 12).map(_ -> 0L))
    val log                        = new MemorySideLog
    val clock                      = new Hands
    val steady                     = new Hands
    val source                     = new CounterSource(() => ends, Limits.NotSet)
    val logged                     = new Logged(retained)

    /** A run of the query, which begins with the current number of cores. */
    def run(follows: Boolean = true): Coordinator = {
      val context = EnumeratorContext(log, ReadMode.Stream, clock, cores, "run", durations = Some(steady))
      val created = new Coordinator(
        source,
        context,
        rules(cores),
        retained,
        None,
        logged,
        if (follows) Some(() => cores) else None
      )
      created.open()
      created
    }

    def layouts: Int = log.keys("slots-").size

    def pass(seconds: Long): Unit = {
      setTime(seconds)
      steady.now = steady.now.plusSeconds(seconds)
    }

    def setTime(seconds: Long): Unit = clock.now = clock.now.plusSeconds(seconds)

    /** Plans a batch in which each partition has one more row. */
    def batch(run: Coordinator, from: Position): (Position, Seq[TaskRanges]) = {
      ends = ends.map { case (p, n) => p -> (n + 1) }
      val until = run.advance(from, everything = false)
      val tasks = run.tasks(from, until)
      assert(tasks.flatMap(_.ranges.map(_.splitId)).toSet == ends.keySet.map(p => s"n-$p"))
      run.committed(from)
      logged.add(until)
      until -> tasks
    }

    /** Returns the end of a batch and the number of its tasks. */
    def tasks(run: Coordinator, from: Position): (Position, Int) = {
      val (until, tasks) = batch(run, from)
      until -> tasks.size
    }
  }

  test("another number of cores applies after one minute, and the progress shows the number") {
    val world      = new World(cores = 2)
    val run        = world.run()
    val (one, two) = world.tasks(run, run.initial())
    assert(two == 2 && run.figures(one)("slots") == "2")
    world.cores = 6
    world.pass(30)
    val (second, early) = world.tasks(run, one)
    world.pass(59)
    val (third, late) = world.tasks(run, second)
    world.pass(1)
    val (fourth, six) = world.tasks(run, third)
    assert((early, late, six) == ((2, 2, 6)))
    assert(run.figures(fourth)("slots") == "6" && world.layouts == 2)
    world.cores = 3
    val (fifth, before) = world.tasks(run, fourth)
    world.pass(60)
    assert((before, world.tasks(run, fifth)._2) == ((6, 3)))
  }

  test("a change of the system time neither delays nor hastens a change of the slots") {
    Seq(-3600L, 3600L).foreach { seconds =>
      val world    = new World(cores = 2)
      val run      = world.run()
      val (one, _) = world.tasks(run, run.initial())
      world.cores = 6
      val (two, _) = world.tasks(run, one)
      world.setTime(seconds)
      val (three, same) = world.tasks(run, two)
      world.pass(60)
      assert((same, world.tasks(run, three)._2) == ((2, 6)))
    }
  }

  test("a configured number of slots does not follow the cores") {
    val world        = new World(cores = 4)
    val run          = world.run(follows = false)
    val (one, tasks) = world.tasks(run, run.initial())
    world.cores = 8
    val (two, _) = world.tasks(run, one)
    world.pass(3600)
    assert((tasks, world.tasks(run, two)._2) == ((4, 4)) && world.layouts == 1)
  }

  test("cores that are available for less than a minute change nothing") {
    val world = new World(cores = 4)
    val run   = world.run()
    val end   = (1 to 200).foldLeft(run.initial()) { (at, i) =>
      world.cores = if (i % 2 == 0) 4 else 4 + i % 5
      world.pass(40)
      val (until, tasks) = world.tasks(run, at)
      assert(tasks == 4)
      until
    }
    assert(world.layouts == 1 && run.figures(end)("slots") == "4")
  }

  test("the number of slots does not change while no executor is registered") {
    val world    = new World(cores = 4)
    val run      = world.run()
    val (one, _) = world.tasks(run, run.initial())
    world.cores = 0
    val (two, none) = world.tasks(run, one)
    world.pass(3600)
    assert((none, world.tasks(run, two)._2) == ((4, 4)))
  }

  test("an idle query keeps its number of slots, although Spark removes idle executors") {
    val world       = new World(cores = 8)
    val run         = world.run()
    val (one, many) = world.tasks(run, run.initial())
    world.cores = 1
    (1 to 100).foreach { _ =>
      world.pass(60)
      assert(run.advance(one, everything = false) == one)
    }
    val (two, still) = world.tasks(run, one)
    world.pass(30)
    // Spark has requested the executors again for tasks that wait for a core.
    world.cores = 8
    val (three, again) = world.tasks(run, two)
    world.cores = 1
    val (four, _) = world.tasks(run, three)
    world.pass(61)
    assert((many, still, again, world.tasks(run, four)._2) == ((8, 8, 8, 1)))
  }

  test("few partitions move, and a replay has the tasks of the first attempt with any number of cores") {
    val world        = new World(cores = 2)
    val run          = world.run()
    val start        = run.initial()
    val (one, first) = world.batch(run, start)
    world.cores = 3
    val (two, second) = world.batch(run, one)
    world.pass(60)
    val (three, third)                = world.batch(run, two)
    def slots(tasks: Seq[TaskRanges]) = tasks.flatMap(t => t.ranges.map(_.splitId -> t.slot)).toMap
    assert(slots(first) == slots(second))
    assert(slots(third).count { case (split, slot) => slots(first)(split) != slot } == 4)
    world.cores = 7
    Seq((start, one, first), (one, two, second), (two, three, third)).foreach { case (from, until, tasks) =>
      assert(world.run().tasks(from, until) == tasks)
    }
  }

  test("after a kill between the layout and the offset, the next run plans the batch once, by its own cores") {
    val world     = new World(cores = 2)
    val run       = world.run()
    val (from, _) = world.batch(run, run.initial())
    world.cores = 6
    world.ends = world.ends.map { case (p, n) => p -> (n + 1) }
    run.advance(from, everything = false)
    world.pass(60)
    val planned = run.advance(from, everything = false)
    assert(run.tasks(from, planned).size == 6)
    world.cores = 4
    val next  = world.run()
    val until = next.advance(from, everything = false)
    val tasks = next.tasks(from, until)
    assert(tasks.size == 4)
    world.cores = 9
    assert(world.run().tasks(from, until) == tasks)
  }

  test("AvailableNow uses the cores of the start, until another number has been available for a minute") {
    val world = new World(cores = 2)
    val run   = world.run()
    run.freeze()
    val (one, two) = world.tasks(run, run.initial())
    world.cores = 5
    val (next, still) = world.tasks(run, one)
    world.pass(60)
    assert((two, still, world.tasks(run, next)._2) == ((2, 2, 5)))
  }

  test("minPartitions keeps its number of tasks with any number of slots") {
    val cut        = CutRules(minTasks = Some(12))
    val world      = new World(cores = 2, rules = SlotRules(_, SlotAssigner.Balanced, cut))
    val run        = world.run()
    val (one, all) = world.tasks(run, run.initial())
    world.cores = 5
    val (two, _) = world.tasks(run, one)
    world.pass(60)
    val (three, tasks) = world.tasks(run, two)
    assert((all, tasks) == ((12, 12)) && run.figures(three)("slots") == "5")
  }

  test(
    "one run of 1,000 batches whose cores change every two minutes keeps the layouts of the batches that Spark keeps"
  ) {
    val retained = 20
    val world    = new World(cores = 2, retained)
    val run      = world.run()
    val seen     = (1 to 1000).foldLeft((run.initial(), Set.empty[Int])) { case ((at, numbers), i) =>
      world.cores = 2 + (i / 4) % 7
      world.pass(Duration.ofSeconds(30).getSeconds)
      val (until, tasks) = world.tasks(run, at)
      assert(world.layouts <= retained + 2)
      until -> (numbers + tasks)
    }
    assert(seen._2 == (2 to 8).toSet)
  }
}
