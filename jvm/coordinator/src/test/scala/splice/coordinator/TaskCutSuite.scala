// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.coordinator

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import splice.source.SlotAssigner

final class TaskCutSuite extends AnyFunSuite {

  private def task(slot: Int, ranges: CounterRange*): SlotRanges = SlotRanges(slot, ranges.toIndexedSeq)

  private def range(partition: Int, rows: Long): CounterRange = CounterRange(partition, 100, 100 + rows, slotted = true)

  private def cut(slots: Int, rules: CutRules)(shared: SlotRanges*): Seq[SlotRanges] =
    TaskCut(SlotRules(slots, SlotAssigner.Balanced, rules), shared)

  /** Each offset of each partition once, in pieces that follow each other, and no task with two pieces of one partition. */
  private def checkWhole(before: Seq[SlotRanges], after: Seq[SlotRanges], hint: String): Unit = {
    def offsets(tasks: Seq[SlotRanges]): Map[Int, Seq[Long]] = tasks
      .flatMap(_.ranges.map(_.asInstanceOf[CounterRange]))
      .groupBy(_.partition)
      .map { case (p, own) => p -> own.sortBy(_.from).flatMap(r => r.from until r.until) }
    assert(offsets(after) == offsets(before), hint)
    assert(after.forall(t => t.ranges.map(_.splitId).distinct.size == t.ranges.size), hint)
    assert(after.forall(_.ranges.forall(_.weight > 0)), hint)
  }

  test("without rules nothing is cut") {
    val shared = Seq(task(0, range(0, 9000)), task(1, range(1, 1)))
    assert(cut(2, CutRules.Never)(shared: _*) == shared)
  }

  test("splitLargePartitions: one partition with 90 % of the rows is read by both slots, which have as much") {
    val tasks = cut(2, CutRules(shareRows = Some(1000)))(
      task(0, range(0, 90000), range(2, 2500)),
      task(1, range(1, 2500), range(3, 5000))
    )
    assert(tasks.map(_.weight) == Seq(50000, 50000))
    assert(tasks.map(_.slot) == Seq(0, 1))
  }

  test("splitLargePartitions leaves alone what is no more than a share, or too little to be worth a second reader") {
    val fair = Seq(task(0, range(0, 5000), range(1, 5000)), task(1, range(2, 5000)))
    assert(cut(2, CutRules(shareRows = Some(1000)))(fair: _*) == fair)
    val small = Seq(task(0, range(0, 1999)))
    assert(cut(4, CutRules(shareRows = Some(1000)))(small: _*) == small)
    assert(cut(4, CutRules(shareRows = Some(1000)))(task(1, range(0, 2000))).map(_.weight) == Seq(1000, 1000))
  }

  test("maxRecordsPerPartition: no task has more, and small ranges share a task") {
    val tasks =
      cut(2, CutRules(maxRows = Some(10)))(task(0, range(0, 25), range(1, 3)), task(1, range(2, 4), range(3, 4)))
    assert(tasks.map(t => t.slot -> t.weight) ==
      Seq(0 -> 9, 0 -> 8, 0 -> 8, 0 -> 3, 1 -> 8).map(e => e._1 -> e._2.toLong))
  }

  test("minPartitions: shared slots part first, then ranges are cut, heaviest first, down to single rows") {
    val shared = Seq(task(0, range(0, 60), range(1, 10)), task(1, range(2, 30)))
    assert(cut(8, CutRules(minTasks = Some(2)))(shared: _*) == shared)
    assert(cut(8, CutRules(minTasks = Some(3)))(shared: _*).map(_.weight) == Seq(10, 30, 60))
    val eight = cut(8, CutRules(minTasks = Some(8)))(shared: _*)
    assert(eight.size == 8 && eight.map(_.slot) == (0 until 8) && eight.map(_.weight).max <= 15)
    checkWhole(shared, eight, "eight")
    assert(cut(8, CutRules(minTasks = Some(8)))(task(3, range(0, 3))).map(_.weight) == Seq(1, 1, 1))
  }

  test("whatever the ranges and rules: every offset once, and what was asked for holds") {
    (1L to 400L).foreach { seed =>
      val random = new Random(seed)
      val slots  = 1 + random.nextInt(8)
      val ranges = (0 until 1 + random.nextInt(20)).map(p => range(p, 1L + random.nextInt(if (p == 0) 4000 else 200)))
      val shared = ranges.groupBy(_ => random.nextInt(slots)).toSeq.sortBy(_._1).map { case (s, own) =>
        task(s, own: _*)
      }
      def some[A](a: => A): Option[A] = if (random.nextBoolean()) Some(a) else None
      val least                       = some(1 + random.nextInt(slots))
      val rules                       = CutRules(some(1L + random.nextInt(50)), least, some(1L + random.nextInt(300)))
      val tasks                       = cut(slots, rules)(shared: _*)
      checkWhole(shared, tasks, s"seed $seed")
      assert(tasks == cut(slots, rules)(shared: _*), s"seed $seed")
      rules.maxRows.foreach(max => assert(tasks.forall(_.weight <= max), s"seed $seed"))
      rules.minTasks.foreach(n => assert(tasks.size >= math.min(n.toLong, ranges.map(_.weight).sum), s"seed $seed"))
      assert(tasks.forall(t => t.slot >= 0 && t.slot < slots), s"seed $seed")
    }
  }
}
