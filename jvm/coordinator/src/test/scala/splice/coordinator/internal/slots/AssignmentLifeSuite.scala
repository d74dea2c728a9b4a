// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.coordinator.internal.slots

import java.time.Clock

import scala.collection.immutable.SortedMap

import org.scalatest.funsuite.AnyFunSuite

import splice.coordinator.internal.sidelog.MemorySideLog
import splice.coordinator.internal.{Coordinator, CounterSource}
import splice.source.options.SlotAssigner
import splice.source.{EnumeratorContext, Limits, Position, ReadMode}

/** Assignments across restarts: FLIP-537's cases of recovery. */
final class AssignmentLifeSuite extends AnyFunSuite {

  final private class World(partitions: Int) {
    var ends: SortedMap[Int, Long] = SortedMap.from((0 until partitions).map(_ -> 10L))
    val log                        = new MemorySideLog
    val source                     = new CounterSource(() => ends, Limits.NotSet)

    def run(rules: SlotRules): Coordinator =
      new Coordinator(source, EnumeratorContext(log, ReadMode.Stream, Clock.systemUTC(), 2, "run"), rules, 100)

    def grow(rows: Int => Long = _ => 10L): Unit = ends = ends.map { case (p, n) => p -> (n + rows(p)) }

    def layouts: Int = log.keys("slots-").size
  }

  private def batch(run: Coordinator, from: Position): (Position, Map[String, Int]) = {
    val until  = run.advance(from, everything = false)
    val ranges = run.tasks(from, until).flatMap(t => t.ranges.map(_.splitId -> t.slot.get))
    assert(ranges.map(_._1).distinct.size == ranges.size, "a split is assigned twice")
    assert(ranges.map(_._1).toSet == run.ranges(from, until).map(_.splitId).toSet, "a split is not assigned")
    until -> ranges.toMap
  }

  private def counts(assignment: Map[String, Int], slots: Int): Seq[Int] = (0 until slots).map(slot =>
    assignment.values.count(_ == slot)
  )

  for (assigner <- SlotAssigner.all) {

    test(s"${assigner.word}: kept by a restart with as many slots, and evenly distributed over another number") {
      val world        = new World(9)
      val first        = world.run(SlotRules(3, assigner))
      val (one, begun) = batch(first, first.initial())
      world.grow()
      val (two, kept) = batch(world.run(SlotRules(3, assigner)), one)
      assert(kept == begun && world.layouts == 1)
      world.grow()
      world.ends ++= (9 until 12).map(_ -> 10L)
      val (three, anew) = batch(world.run(SlotRules(6, assigner)), two)
      assert(counts(anew, 6).forall(_ == 2))
      world.grow()
      assert(batch(world.run(SlotRules(6, assigner)), three)._2 == anew)
    }

    test(s"${assigner.word}: a topic removed before the restart has no slot") {
      val world        = new World(8)
      val first        = world.run(SlotRules(4, assigner))
      val (one, begun) = batch(first, first.initial())
      world.ends = world.ends.filter(_._1 < 4) ++ (8 until 12).map(_ -> 10L)
      world.grow()
      val (_, next) = batch(world.run(SlotRules(4, assigner)), one)
      assert(next.keySet == ((0 until 4) ++ (8 until 12)).map(p => s"n-$p").toSet)
      assert((0 until 4).forall(p => next(s"n-$p") == begun(s"n-$p")))
      assert(counts(next, 4).forall(_ == 2))
      assert(world.log.keys("slots-").lastOption.flatMap(world.log.get).exists(!_.exists(_.contains("n-7"))))
    }

    test(s"${assigner.word}: killed during a discovery, between its layout and its offset") {
      val world        = new World(3)
      val first        = world.run(SlotRules(3, assigner))
      val (one, begun) = batch(first, first.initial())
      world.ends ++= (3 until 6).map(_ -> 10L)
      world.grow()
      val (_, planned) = batch(world.run(SlotRules(3, assigner)), one)
      // The offset was never logged, and more partitions were discovered before the restart.
      world.ends ++= (6 until 9).map(_ -> 10L)
      val (_, after) = batch(world.run(SlotRules(3, assigner)), one)
      assert(planned.forall { case (split, slot) => after(split) == slot })
      assert(begun.forall { case (split, slot) => after(split) == slot })
      assert(counts(after, 3).forall(_ == 3))
    }
  }

  test("balanced: splits move rarely, if slots stay out of balance, and a replay keeps its tasks") {
    val world = new World(8)
    val run   = world.run(SlotRules(2))
    var at    = run.initial()
    val start = at
    at = batch(run, at)._1
    val (first, before) = (at, run.tasks(start, at))
    val begun           = before.flatMap(t => t.ranges.map(_.splitId -> t.slot.get)).toMap
    val busy            = begun.filter(_._2 == 0).keySet
    (1 to 60).foreach { _ =>
      world.grow(p => if (busy(s"n-$p")) 1000L else 10L)
      at = batch(run, at)._1
    }
    val loads = run.tasks(first, at)
    assert(run.tasks(start, first) == before)
    world.grow(p => if (busy(s"n-$p")) 1000L else 10L)
    val after = batch(run, at)._2
    assert(counts(after.filter(e => busy(e._1)), 2) == Seq(2, 2))
    assert(world.layouts == 2 && loads.nonEmpty)
  }

  test("balanced: a load that alternates between slots in every batch moves no split") {
    val world = new World(8)
    val run   = world.run(SlotRules(2))
    var at    = run.initial()
    (1 to 100).foreach { i =>
      world.grow(p => if ((p + i) % 2 == 0) 1000L else 10L)
      at = batch(run, at)._1
    }
    assert(world.layouts == 1)
  }

  test("a layout of version 0.1 is read, its assignment is kept, and its batch keeps its tasks") {
    val world = new World(4)
    val start = world.run(SlotRules(2)).initial()
    val text  = """{"from":"{\"0\":0,\"1\":0,\"2\":0,\"3\":0}","slots":2,"v":1}"""
    val _     = world.log.getOrCreate("slots-00000000")(Seq(
      text,
      """["n-0",1]""",
      """["n-1",1]""",
      """["n-2",0]""",
      """["n-3",0]"""
    ))
    val run        = world.run(SlotRules(2))
    val (_, begun) = batch(run, start)
    assert(begun == Map("n-0" -> 1, "n-1" -> 1, "n-2" -> 0, "n-3" -> 0))
  }

  test("a replay has the pieces of the first attempt, with any options of the next start") {
    val world = new World(3)
    world.grow(p => if (p == 0) 9000L else 0L)
    val rules =
      SlotRules(4, SlotAssigner.Balanced, CutRules(shareRows = Some(100), minTasks = Some(4), maxRows = Some(1500)))
    val run   = world.run(rules)
    val start = run.initial()
    val until = run.advance(start, everything = false)
    val tasks = run.tasks(start, until)
    assert(tasks.size >= 7 && tasks.forall(_.weight <= 1500))
    assert(world.run(SlotRules(2)).tasks(start, until) == tasks)
    world.grow()
    assert(world.run(SlotRules(4)).advance(until, everything = false) != until)
    assert(world.run(SlotRules(4)).tasks(start, until) == tasks)
  }

  test("a batch that another source began gets one layout, which later starts use") {
    val world = new World(6)
    val start = world.run(SlotRules(2)).initial()
    val until = world.source.position("""{"0":5,"1":5,"2":5,"3":5,"4":5,"5":5}""")
    val tasks = world.run(SlotRules(2)).tasks(start, until)
    assert(world.run(SlotRules(5)).tasks(start, until) == tasks && tasks.size == 2)
  }
}
