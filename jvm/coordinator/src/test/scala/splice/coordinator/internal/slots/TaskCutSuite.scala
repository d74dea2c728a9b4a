// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.coordinator.internal.slots

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import splice.coordinator.internal.CounterRange
import splice.source.TaskRanges
import splice.source.options.SlotAssigner

final class TaskCutSuite extends AnyFunSuite {

  private def task(slot: Int, ranges: CounterRange*): TaskRanges = TaskRanges(Some(slot), ranges.toIndexedSeq)

  private def range(partition: Int, rows: Long): CounterRange = CounterRange(partition, 100, 100 + rows, slotted = true)

  private def cut(slots: Int, rules: CutRules)(shared: TaskRanges*): Seq[TaskRanges] =
    TaskCut(SlotRules(slots, SlotAssigner.Balanced, rules), shared.map(own => own.slot.get -> own.ranges))

  /** Checks that each offset of each partition is read once, in consecutive pieces. Checks that no task has two pieces
    * of one partition.
    */
  private def checkWhole(before: Seq[TaskRanges], after: Seq[TaskRanges], hint: String): Unit = {
    def offsets(tasks: Seq[TaskRanges]): Map[Int, Seq[Long]] = tasks
      .flatMap(_.ranges.map(_.asInstanceOf[CounterRange]))
      .groupBy(_.partition)
      .map { case (p, own) => p -> own.sortBy(_.from).flatMap(r => r.from until r.until) }
    assert(offsets(after) == offsets(before), hint)
    assert(after.forall(t => t.ranges.map(_.splitId).distinct.size == t.ranges.size), hint)
    assert(after.forall(_.ranges.forall(_.weight > 0)), hint)
  }

  test("without rules no range is cut") {
    val shared = Seq(task(0, range(0, 9000)), task(1, range(1, 1)))
    assert(cut(2, CutRules.Never)(shared: _*) == shared)
  }

  test("splitLargePartitions: both slots read a partition with 90 % of the rows, and have equal shares") {
    val tasks = cut(2, CutRules(shareRows = Some(1000)))(
      task(0, range(0, 90000), range(2, 2500)),
      task(1, range(1, 2500), range(3, 5000))
    )
    assert(tasks.map(_.weight) == Seq(50000, 50000))
    assert(tasks.map(_.slot) == Seq(Some(0), Some(1)))
  }

  test("splitLargePartitions does not cut a range that is at most a share, or too small for a second reader") {
    val fair = Seq(task(0, range(0, 5000), range(1, 5000)), task(1, range(2, 5000)))
    assert(cut(2, CutRules(shareRows = Some(1000)))(fair: _*) == fair)
    val small = Seq(task(0, range(0, 1999)))
    assert(cut(4, CutRules(shareRows = Some(1000)))(small: _*) == small)
    assert(cut(4, CutRules(shareRows = Some(1000)))(task(1, range(0, 2000))).map(_.weight) == Seq(1000, 1000))
  }

  test("no rule cuts a range that does not support cuts") {
    val whole = Seq(TaskRanges(Some(1), IndexedSeq(CounterRange(0, 0, 5000, slotted = false))))
    val rules = Seq(CutRules(shareRows = Some(100)), CutRules(minTasks = Some(3)), CutRules(maxRows = Some(100)))
    rules.foreach(rule => assert(cut(2, rule)(whole: _*) == whole, rule))
    // The other range is cut into the requested number of pieces.
    val tasks = cut(2, CutRules(minTasks = Some(4)))(whole.head, task(0, range(1, 30)))
    assert(tasks.map(_.weight).sorted == Seq(10, 10, 10, 5000))
  }

  test("maxRecordsPerPartition limits tasks, small ranges share a task, and tasks that divide a slot have no slot") {
    val tasks =
      cut(2, CutRules(maxRows = Some(10)))(task(0, range(0, 25), range(1, 3)), task(1, range(2, 4), range(3, 4)))
    assert(tasks.map(t => t.slot -> t.weight) == Seq(None -> 9L, None -> 8L, None -> 8L, None -> 3L, Some(1) -> 8L))
    val alone = CounterRange(0, 0, 25, slotted = false)
    assert(cut(2, CutRules(maxRows = Some(10)))(TaskRanges(Some(1), IndexedSeq(alone))).map(_.slot) == Seq(Some(1)))
  }

  test("minPartitions: shared slots are separated first, then ranges are cut, heaviest first, down to single rows") {
    val shared = Seq(task(0, range(0, 60), range(1, 10)), task(1, range(2, 30)))
    assert(cut(8, CutRules(minTasks = Some(2)))(shared: _*) == shared)
    val three = cut(8, CutRules(minTasks = Some(3)))(shared: _*)
    assert(three.map(t => t.slot -> t.weight) == Seq(Some(0) -> 10L, Some(1) -> 30L, Some(2) -> 60L))
    val eight = cut(8, CutRules(minTasks = Some(8)))(shared: _*)
    assert(eight.size == 8 && eight.map(_.weight).max <= 15)
    assert(eight.count(_.slot.nonEmpty) == 1 && eight.find(_.slot.nonEmpty).map(_.weight).contains(10L))
    checkWhole(shared, eight, "eight")
    assert(cut(8, CutRules(minTasks = Some(8)))(task(3, range(0, 3))).map(_.weight) == Seq(1, 1, 1))
  }

  test("minPartitions above the number of slots: ranges that share a slot are separated and cut") {
    val shared = Seq(task(0, range(0, 20), range(1, 20)), task(1, range(2, 20), range(3, 20)))
    val tasks  = cut(2, CutRules(minTasks = Some(8)))(shared: _*)
    assert(tasks.map(_.weight) == Seq.fill(8)(10L) && tasks.forall(_.slot.isEmpty))
    checkWhole(shared, tasks, "above")
    val apart = cut(2, CutRules(minTasks = Some(4)))(shared: _*)
    assert(apart.map(_.slot) == Seq(Some(0), Some(1), None, None) && apart.forall(_.weight == 20))
  }

  test("any ranges and rules: every offset is read once, and the limits of the rules apply") {
    (1L to 400L).foreach { seed =>
      val random = new Random(seed)
      val slots  = 1 + random.nextInt(8)
      val ranges = (0 until 1 + random.nextInt(20)).map(p => range(p, 1L + random.nextInt(if (p == 0) 4000 else 200)))
      val shared = ranges.groupBy(_ => random.nextInt(slots)).toSeq.sortBy(_._1).map { case (s, own) =>
        task(s, own: _*)
      }
      def some[A](a: => A): Option[A] = if (random.nextBoolean()) Some(a) else None
      val least                       = some(1 + random.nextInt(2 * slots))
      val rules                       = CutRules(some(1L + random.nextInt(50)), least, some(1L + random.nextInt(300)))
      val tasks                       = cut(slots, rules)(shared: _*)
      checkWhole(shared, tasks, s"seed $seed")
      assert(tasks == cut(slots, rules)(shared: _*), s"seed $seed")
      rules.maxRows.foreach(max => assert(tasks.forall(_.weight <= max), s"seed $seed"))
      rules.minTasks.foreach(n => assert(tasks.size >= math.min(n.toLong, ranges.map(_.weight).sum), s"seed $seed"))
      val used = tasks.flatMap(_.slot)
      assert(used.distinct == used && used.forall(slot => slot >= 0 && slot < slots), s"seed $seed")
    }
  }
}
