// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.coordinator.internal

import scala.collection.immutable.SortedMap

import org.apache.spark.sql.types.StructType
import org.scalatest.funsuite.AnyFunSuite

import splice.coordinator.internal.slots.SlotRules
import splice.source.runtime.OpenEnded
import splice.source.{Limits, Position, SplitEnumerator, SplitRange, SplitReaderFactory, StartPosition, TaskRanges}

/** Tasks of batches that end at a time instead of an offset. */
final class RealTimeBatchesSuite extends AnyFunSuite {

  /** Partitions without an end, and partitions with an end. */
  final private class Numbers(var open: Set[Int], var bounded: Map[Int, Long] = Map.empty, slotted: Boolean = true)
      extends SplitEnumerator[Position]
      with OpenEnded[Position] {

    var settled = 0
    var opened  = 0

    private def at(position: Position) = position match {
      case CounterPosition(all) => all
      case other                => throw new AssertionError(s"$other is of another source")
    }

    override def settle(from: Position): Position = {
      settled += 1
      CounterPosition(SortedMap.from((open ++ bounded.keySet).map(_ -> 0L)) ++ at(from))
    }
    override def open(position: Position): Seq[SplitRange] = {
      opened += 1
      open.toSeq.sorted.map(p => OpenNumbers(p, at(position)(p))) ++ bounded.toSeq.sorted.collect {
        case (p, end) if at(position)(p) < end => CounterRange(p, at(position)(p), end, slotted)
      }
    }
    override def reached(position: Position, unread: Seq[SplitRange]): Position = {
      val left =
        unread.collect { case OpenNumbers(p, from) => p -> from; case CounterRange(p, from, _, _) => p -> from }
      CounterPosition(at(position) ++ bounded ++ left)
    }
    override def start(at: StartPosition): Position                       = CounterPosition(SortedMap.empty)
    override def advance(from: Position, limits: Limits): Position        = from
    override def splits(from: Position, until: Position): Seq[SplitRange] = Nil
    override def readers(columns: StructType, ranges: Seq[SplitRange]): SplitReaderFactory =
      throw new UnsupportedOperationException
  }

  private def batches(numbers: Numbers, slots: Int, available: () => Int = () => 8) =
    new RealTimeBatches(numbers, at => numbers.isMember(at), () => SlotRules(slots), available)

  private val start = CounterPosition(SortedMap.empty)

  private def splits(tasks: Seq[TaskRanges]): Map[Int, Set[String]] =
    tasks.map(task => task.slot.get -> task.ranges.map(_.splitId).toSet).toMap

  test("as many tasks as slots share the partitions, and a new partition moves no other partition") {
    val numbers = new Numbers((0 until 7).toSet)
    val all     = batches(numbers, slots = 3)
    all.begin(start)
    val first = splits(all.tasks(start))
    assert(first.keySet == Set(0, 1, 2) && first.values.map(_.size).toSeq.sorted == Seq(2, 2, 3))
    // Spark plans a batch more than once.
    assert(splits(all.tasks(start)) == first && numbers.settled == 1)
    val end = all.end((0 until 7).map(p => OpenNumbers(p, p + 1L)))
    assert(end == CounterPosition(SortedMap.from((0 until 7).map(p => p -> (p + 1L)))))
    numbers.open += 7
    all.begin(end)
    val next = splits(all.tasks(end))
    assert(next.map { case (slot, own) => slot -> (own - "n-7") } == first && next.values.flatten.toSet("n-7"))
  }

  test("the number of tasks never exceeds the number that can run at the same time") {
    var cores   = 2
    val numbers = new Numbers((0 until 6).toSet)
    val all     = batches(numbers, slots = 4, () => cores)
    def next()  = {
      all.begin(start)
      splits(all.tasks(start))
    }
    assert(all.lastSlots.isEmpty)
    assert(next().values.map(_.size).toSeq == Seq(3, 3) && all.lastSlots.contains(2))
    cores = 3
    assert(next().values.map(_.size).toSeq == Seq(2, 2, 2) && all.lastSlots.contains(3))
    cores = 9
    assert(next().size == 4)
  }

  test("ranges with an end do not delay open ranges") {
    val numbers = new Numbers(Set(0), Map(1 -> 5L))
    val all     = batches(numbers, slots = 2)
    all.begin(start)
    assert(all.tasks(start).flatMap(_.ranges).toSet == Set(CounterRange(1, 0, 5, slotted = true), OpenNumbers(0, 0)))
    // Each epoch of continuous mode calls `isRead`, so the call does not open ranges.
    val opened = numbers.opened
    assert(!all.isRead(Seq(OpenNumbers(0, 3), CounterRange(1, 2, 5, slotted = true))))
    assert(all.isRead(Seq(OpenNumbers(0, 3))))
    assert(numbers.opened == opened)
    val end = all.end(Seq(OpenNumbers(0, 3)))
    assert(end == CounterPosition(SortedMap(0 -> 3L, 1 -> 5L)))
    all.begin(end)
    assert(all.tasks(end).flatMap(_.ranges) == Seq(OpenNumbers(0, 3)) && !all.isRead(Seq(OpenNumbers(0, 4))))
  }

  test("ranges without slots are read by as many tasks as there are slots, in their order") {
    val sizes = Seq(5L, 1L, 1L, 1L, 1L, 1L, 3L)
    val all   = batches(new Numbers(Set.empty, sizes.indices.zip(sizes).toMap, slotted = false), slots = 2)
    all.begin(start)
    def range(p: Int) = CounterRange(p, 0, sizes(p), slotted = false)
    assert(all.tasks(start).map(_.slot) == Seq(None, None))
    assert(all.tasks(start).map(_.ranges) == Seq(Seq(0, 6), Seq(1, 2, 3, 4, 5)).map(_.map(range)))
    val few = batches(new Numbers(Set.empty, Map(0 -> 1L), slotted = false), slots = 3)
    few.begin(start)
    assert(few.tasks(start).map(_.ranges) == Seq(Seq(CounterRange(0, 0, 1, slotted = false))))
    assert(few.lastSlots.isEmpty)
  }

  test("a batch without anything to read has one task without ranges") {
    val all = batches(new Numbers(Set.empty), slots = 2)
    all.begin(start)
    assert(all.tasks(start) == Seq(TaskRanges(None, IndexedSeq.empty)) && all.end(Nil) == start)
    assert(!all.isRead(Nil))
  }
}

/** A partition without an end. */
final case class OpenNumbers(partition: Int, from: Long) extends SplitRange {
  override def splitId: String  = s"n-$partition"
  override def slotted: Boolean = true
  override def isOpen: Boolean  = true
}
