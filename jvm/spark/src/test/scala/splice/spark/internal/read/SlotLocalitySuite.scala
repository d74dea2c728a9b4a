// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark.internal.read

import org.scalatest.funsuite.AnyFunSuite

import splice.source.TaskRanges
import splice.testkit.internal.memory.MemoryRange

final class SlotLocalitySuite extends AnyFunSuite {

  final private class World(var free: Map[String, Int]) {
    val homes = new SlotLocality(() => free)

    def ran(slots: (Int, String)*): Unit =
      homes.learn(slots.map { case (slot, host) => slot -> SlotHome(s"$host:1", s"executor_${host}_1") })

    def locations(slots: Int*): Seq[String] = homes.locations(slots.map(task)).map(_.mkString)
  }

  private def task(slot: Int): TaskRanges =
    TaskRanges(Some(slot), IndexedSeq(MemoryRange("log", slot, 0, 1, slotted = true)))

  test("a slot prefers the executor that last read the slot") {
    val w = new World(Map("a:1" -> 2, "b:1" -> 2))
    assert(w.locations(0, 1, 2) == Seq("", "", ""))
    w.ran(0 -> "a", 1 -> "b", 2 -> "a")
    assert(w.locations(0, 1, 2) == Seq("executor_a_1", "executor_b_1", "executor_a_1"))
    w.ran(1 -> "a")
    assert(w.locations(1) == Seq("executor_a_1"))
  }

  test("a lost executor moves only its own slots, and no task waits for the executor") {
    val w = new World(Map("a:1" -> 2, "b:1" -> 2))
    w.ran(0 -> "a", 1 -> "b", 2 -> "a", 3 -> "b")
    w.free = Map("a:1" -> 2, "c:1" -> 2)
    assert(w.locations(0, 1, 2, 3) == Seq("executor_a_1", "", "executor_a_1", ""))
  }

  test("an executor gets at most as many tasks as it has cores, and other tasks have no preference") {
    val w = new World(Map("a:1" -> 1, "b:1" -> 0))
    w.ran(0 -> "a", 1 -> "a", 2 -> "b")
    assert(w.locations(0, 1, 2) == Seq("executor_a_1", "", ""))
  }

  test("only the first of several tasks of one slot prefers the executor of the slot") {
    val w = new World(Map("a:1" -> 4))
    w.ran(0 -> "a")
    assert(w.locations(0, 0, 0) == Seq("executor_a_1", "", ""))
  }
}
