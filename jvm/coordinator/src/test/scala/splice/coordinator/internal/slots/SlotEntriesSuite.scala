// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.coordinator.internal.slots

import java.time.Clock

import scala.collection.immutable.SortedMap

import org.scalatest.funsuite.AnyFunSuite

import splice.coordinator.internal.sidelog.MemorySideLog
import splice.coordinator.internal.{Coordinator, CounterPosition, CounterRange, CounterSource}
import splice.source.errors.SpliceException
import splice.source.options.{SlotAssigner, SourceOptions}
import splice.source.runtime.SideLog
import splice.source.{EnumeratorContext, Limits, ReadMode, TaskRanges}

/** Layouts in the side log: the rules by which they are created, read and replaced. */
final class SlotEntriesSuite extends AnyFunSuite {

  private val ends = SortedMap.from((0 until 4).map(_ -> 10L))

  private val start = CounterPosition(ends.map { case (p, _) => p -> 0L })

  private def run(log: SideLog, rules: SlotRules, slotted: Boolean = true): Coordinator =
    new Coordinator(
      new CounterSource(() => ends, Limits.NotSet, slotted),
      EnumeratorContext(log, ReadMode.Stream, Clock.systemUTC(), 2, "run"),
      rules,
      100
    )

  private def slots(tasks: Seq[TaskRanges]): Map[String, Option[Int]] =
    tasks.flatMap(task => task.ranges.map(_.splitId -> task.slot)).toMap

  private def batch(log: SideLog, rules: SlotRules = SlotRules(2)): Map[String, Option[Int]] = {
    val own   = run(log, rules)
    val until = own.advance(start, everything = false)
    slots(own.tasks(start, until))
  }

  private val crowded = Seq("""["n-0",1]""", """["n-1",1]""", """["n-2",1]""", """["n-3",0]""")

  private def stored(head: String, lines: Seq[String] = crowded): SideLog = {
    val log = new MemorySideLog
    log.getOrCreate("slots-00000000")(head +: lines)
    log
  }

  private val from = """"from":"{\"0\":0,\"1\":0,\"2\":0,\"3\":0}""""

  test("two drivers that create a layout at the same time both use the layout that was stored first") {
    val log   = new MemorySideLog
    val first = run(log, SlotRules(4))
    val late  = run(log, SlotRules(2))
    late.initial()
    // The late driver has read the layouts before the first driver stores its layout.
    assert(late.figures(start).get("slots").isEmpty)
    val until = first.advance(start, everything = false)
    late.advance(start, everything = false)
    assert(late.tasks(start, until) == first.tasks(start, until) && late.figures(until)("slots") == "4")
    assert(log.keys("slots-") == Seq("slots-00000000"))
  }

  test("another assigner assigns all splits again, and balanced keeps the assignment of any assigner") {
    val balanced = s"""{"assigner":"balanced",$from,"slots":2,"v":1}"""
    assert(batch(stored(balanced), SlotRules(2, SlotAssigner.RoundRobin)) ==
      Map("n-0" -> Some(0), "n-1" -> Some(1), "n-2" -> Some(0), "n-3" -> Some(1)))
    val hashed = s"""{"assigner":"hash",$from,"slots":2,"v":1}"""
    val kept   = batch(stored(hashed))
    assert(kept("n-3").contains(0) && kept.values.count(_.contains(1)) == 2)
  }

  test("the error names a layout that cannot be read") {
    val valid = s"""{"assigner":"balanced",$from,"slots":2,"v":1}"""
    assert(batch(stored(valid)).size == 4)
    Seq(
      stored(valid.replace("balanced", "unheard")),
      stored(valid.replace("\"slots\":2,", "")),
      stored(valid.replace("\"slots\":2", "\"slots\":\"2\"")),
      stored(valid.replace("from", "to")),
      stored(valid, Seq("""["n-0"]""")),
      stored(valid, Seq("""["n-0",1,2]"""))
    ).foreach { log =>
      val error = intercept[SpliceException](batch(log))
      assert(error.getCondition == "SPLICE_CHECKPOINT.CORRUPT" && error.getMessage.contains("slots-00000000"))
    }
    val error = intercept[SpliceException](batch(stored(valid.replace("\"v\":1", "\"v\":2"))))
    assert(error.getCondition == "SPLICE_CHECKPOINT.VERSION_NOT_SUPPORTED")
  }

  test("a split that is not in its layout gets a slot, even if its name has a negative hash") {
    val ranges = (0 until 1000).map(i => CounterRange(i * 1000003, 0, 10, slotted = true))
    assert(ranges.exists(_.splitId.hashCode < 0))
    val tasks = SlotLayout(start, SlotRules(3), Map.empty).tasks(ranges)
    assert(tasks.map(_.slot) == (0 until 3).map(Some(_)) && tasks.map(_.ranges.size).sum == 1000)
  }

  test("ranges that need no slot have a task each, no layout, and are not cut") {
    val log   = new MemorySideLog
    val cut   = CutRules(shareRows = Some(1), minTasks = Some(9), maxRows = Some(3))
    val own   = run(log, SlotRules(2, SlotAssigner.Balanced, cut), slotted = false)
    val until = own.advance(start, everything = false)
    val tasks = own.tasks(start, until)
    assert(tasks.map(task => (task.slot, task.weight)) == Seq.fill(4)((None, 10L)))
    assert(log.keys("slots-").isEmpty && own.figures(until).get("slots").isEmpty)
  }

  test("the options of a query set the rules of its tasks") {
    def of(options: (String, String)*) = SlotRules.of(SourceOptions(Map("source" -> "counter") ++ options), 5)
    assert(of() == SlotRules(5, SlotAssigner.Balanced, CutRules.Never))
    assert(of("slots" -> "3", "assigner" -> "hash") == SlotRules(3, SlotAssigner.Hash))
    assert(of("splitLargePartitions" -> "true").cut == CutRules(shareRows = Some(1000)))
    assert(of("minPartitions" -> "7").cut == CutRules(minTasks = Some(7)))
    assert(of("maxRecordsPerPartition" -> "9").cut == CutRules(maxRows = Some(9)))
  }
}
