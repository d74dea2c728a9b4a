// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source.internal

import java.io.IOException
import java.time.Duration

import scala.collection.mutable

import org.apache.spark.sql.connector.metric.CustomTaskMetric
import org.scalatest.funsuite.AnyFunSuite

import splice.source.runtime.Report
import splice.source.{Poll, SplitRange, SplitReader}

final class ReaderSequenceSuite extends AnyFunSuite {

  import ReaderSequenceSuite._

  /** Events of several readers, in their order. */
  final private class World {
    val events: mutable.ArrayBuffer[String] = mutable.ArrayBuffer.empty

    /** Reader of items. The number of an item is the number of polls that return `Pending` before the item. */
    final class Reader(name: String, items: Seq[(String, Int)], failing: Boolean = false) extends SplitReader[String] {
      events += s"open $name"
      private val left  = mutable.Queue.from(items)
      private var item  = ""
      private var late  = items.headOption.fold(0)(_._2)
      private var found = 0L

      /** True if the reader has found a change. */
      var stale = false

      override def poll(patience: Duration): Poll =
        if (left.isEmpty) Poll.Ended
        else if (late > 0 && !(patience eq Poll.Forever)) {
          late -= 1
          Poll.Pending
        } else {
          if (late > 0) events += s"$name waits"
          item = left.dequeue()._1
          late = left.headOption.fold(0)(_._2)
          found += 1
          Poll.Found
        }

      override def get(): String = item

      override def isStale: Boolean = stale

      override def backlog: Seq[Report] = Seq(Report(name, Int.box(left.size)))

      override def skipped: Seq[Report] = Seq(Report(name, Long.box(found)))

      override def unread: Seq[SplitRange] = if (left.isEmpty) Nil else Seq(Items(name, left.size))

      override def report(ended: Boolean): Seq[Report] = if (ended) Seq(Report(name, Long.box(found))) else Nil

      override def metrics: Array[CustomTaskMetric] = Array(Count("found", found), Count(name, 1L))

      override def close(): Unit = {
        events += s"close $name"
        if (failing) throw new IOException(name)
      }
    }

    def reader(name: String, items: (String, Int)*) = new Reader(name, items)

    /** Creates a sequence of readers. The sequence creates each reader when it opens the reader. */
    def sequence(atOnce: Int, readers: (() => SplitReader[String])*) =
      new ReaderSequence[String](readers.map(Nil -> _), atOnce)
  }

  private def read(sequence: ReaderSequence[String]): Seq[String] =
    Iterator.continually(sequence.poll(Poll.Forever)).takeWhile(_ == Poll.Found).map(_ => sequence.get()).toVector

  private def metrics(sequence: ReaderSequence[String]): Map[String, Long] =
    sequence.metrics.map(m => m.name -> m.value).toMap

  test("in sequence: each reader is created after the previous reader is closed, and each reader is awaited") {
    val world    = new World
    val sequence =
      world.sequence(1, Seq("a", "b").map(name => () => world.reader(name, s"$name-1" -> 0, s"$name-2" -> 3)): _*)
    assert(read(sequence) == Seq("a-1", "a-2", "b-1", "b-2"))
    assert(world.events == Seq("open a", "a waits", "close a", "open b", "b waits", "close b"))
    assert(metrics(sequence) == Map("found" -> 4L, "a" -> 1L, "b" -> 1L))
  }

  test("the sequence reports only for readers that were read to their ends") {
    val world    = new World
    val names    = Seq("a", "b", "c")
    val sequence = world.sequence(1, names.map(n => () => world.reader(n, s"$n-1" -> 0, s"$n-2" -> 0)): _*)
    (1 to 5).foreach(_ => sequence.poll(Poll.Forever))
    assert(sequence.report(ended = false) == Seq(Report("a", Long.box(2)), Report("b", Long.box(2))))
    read(sequence)
    assert(sequence.report(ended = true).map(_.range) == Seq("a", "b", "c"))
  }

  test("at once: while one reader would wait, another reader is read, and no reader waits") {
    val world    = new World
    val sequence = world.sequence(
      2,
      () => world.reader("a", "a-1" -> 2, "a-2" -> 0, "a-3" -> 1),
      () => world.reader("b", "b-1" -> 0, "b-2" -> 3)
    )
    assert(read(sequence) == Seq("b-1", "a-1", "a-2", "a-3", "b-2"))
    assert(!world.events.exists(_.endsWith("waits")), world.events)
    assert(metrics(sequence) == Map("found" -> 5L, "a" -> 1L, "b" -> 1L))
  }

  test("at once: the number of open readers is limited, and the next reader replaces a reader that has ended") {
    val world    = new World
    val sequence = world.sequence(2, Seq("a", "b", "c").map(name => () => world.reader(name, name -> 0)): _*)
    assert(read(sequence) == Seq("a", "b", "c"))
    assert(world.events.indexOf("open c") > world.events.indexOf("close a"))
    assert(world.events.count(_.startsWith("close")) == 3)
  }

  test("close closes every open reader, even if one close fails, and no reader is created later") {
    val world                = new World
    def reader(name: String) = new world.Reader(name, Seq(name -> 0, name -> 0), failing = name == "a")
    val sequence             = world.sequence(2, Seq("a", "b", "c").map(name => () => reader(name)): _*)
    assert(sequence.poll(Poll.Forever) == Poll.Found)
    assert(intercept[IOException](sequence.close()).getMessage == "a")
    assert(sequence.poll(Poll.Forever) == Poll.Ended)
    assert(world.events == Seq("open a", "open b", "close a", "close b"))
  }

  test("nested sequences: while one reader would wait, the other readers are read") {
    val world = new World
    val inner = world.sequence(2, () => world.reader("a", "a-1" -> 20), () => world.reader("b", "b-1" -> 10))
    val outer = world.sequence(2, () => inner, () => world.reader("c", "c-1" -> 0, "c-2" -> 1))
    assert(read(outer) == Seq("c-1", "c-2", "b-1", "a-1"))
  }

  test("at once: a reader with more items than its turn gives its turn to each of the other readers") {
    val world                                           = new World
    def reader(name: String, count: Int)                = () => world.reader(name, Seq.fill(count)(name -> 0): _*)
    def sequence(readers: (() => SplitReader[String])*) =
      new ReaderSequence[String](readers.map(Nil -> _), atOnce = 3, turn = 2)
    assert(read(sequence(reader("a", 5), reader("b", 3))).mkString == "aabbaaba")
    // With two other readers, a turn has twice as many items. A reader without an item does not use its turn.
    val late = () => world.reader("c", "c" -> 1, "c" -> 0)
    assert(read(sequence(reader("a", 14), reader("b", 5), late)).mkString == "aaaabbbbaaaabaaccaaaa")
    assert(read(sequence(reader("a", 9))).mkString == "aaaaaaaaa")
  }

  test("with a limited patience, a poll without an item returns Pending, and a poll at the end returns Ended") {
    val world    = new World
    val sequence = world.sequence(2, () => world.reader("a", "a-1" -> 1), () => world.reader("b", "b-1" -> 3))
    def poll()   = sequence.poll(Duration.ZERO)
    assert(poll() == Poll.Pending)
    assert(poll() == Poll.Found && sequence.get() == "a-1")
    assert(poll() == Poll.Pending)
    assert(poll() == Poll.Found && sequence.get() == "b-1")
    assert(poll() == Poll.Ended)
    assert(poll() == Poll.Ended)
  }

  test("unread has the ranges of readers that were not created, and the unread ranges of open readers") {
    val world    = new World
    val sequence = new ReaderSequence[String](
      Seq("a", "b", "c", "d").map(n => Seq(Items(n, 2)) -> (() => world.reader(n, s"$n-1" -> 0, s"$n-2" -> 0))),
      2
    )
    def unread = sequence.unread.collect { case Items(name, count) => name -> count }.toMap
    assert(unread == Map("a" -> 2, "b" -> 2, "c" -> 2, "d" -> 2) && world.events.isEmpty)
    assert(sequence.poll(Duration.ZERO) == Poll.Found)
    assert(unread == Map("a" -> 1, "b" -> 2, "c" -> 2, "d" -> 2))
    // The third reader replaces the first reader.
    assert(sequence.poll(Duration.ZERO) == Poll.Found && sequence.poll(Duration.ZERO) == Poll.Found)
    assert(unread == Map("b" -> 1, "c" -> 2, "d" -> 2))
    assert(read(sequence).size == 5 && unread.isEmpty)
  }

  test("the sequence has the backlogs of its open readers") {
    val world    = new World
    val sequence = world.sequence(2, Seq("a", "b", "c").map(name => () => world.reader(name, name -> 0)): _*)
    assert(sequence.backlog.isEmpty, "no reader is open")
    assert(sequence.poll(Duration.ZERO) == Poll.Found)
    assert(sequence.backlog.toSet == Set(Report("a", Int.box(0)), Report("b", Int.box(1))))
  }

  test("the sequence has the skipped items of its open readers and of its ended readers") {
    val world    = new World
    val sequence = world.sequence(1, Seq("a", "b").map(name => () => world.reader(name, name -> 0)): _*)
    assert(sequence.skipped.isEmpty, "no reader is open")
    assert(sequence.poll(Duration.ZERO) == Poll.Found && sequence.skipped == Seq(Report("a", Long.box(1))))
    assert(read(sequence).size == 1)
    assert(sequence.skipped == Seq(Report("a", Long.box(1)), Report("b", Long.box(1))))
  }

  test("the sequence is stale while one of its open readers is stale") {
    val world    = new World
    val readers  = Seq("a", "b", "c").map(name => world.reader(name, name -> 0))
    val sequence = world.sequence(2, readers.map(reader => () => reader): _*)
    readers.foreach(_.stale = true)
    assert(!sequence.isStale, "no reader is open")
    readers.take(2).foreach(_.stale = false)
    assert(sequence.poll(Duration.ZERO) == Poll.Found && !sequence.isStale)
    readers.take(2).foreach { reader =>
      reader.stale = true
      assert(sequence.isStale)
      reader.stale = false
      assert(!sequence.isStale)
    }
  }

  /** Reader of two splits. At a pause, a poll passes an item and returns `Pending` instead of the item. */
  final private class Sharing(name: String, size: Int, pauses: Int*) extends SplitReader[String] {
    private val other                           = List(Items(s"$name-other", 1))
    private var left                            = size
    private var waits                           = pauses.toSet
    override def poll(patience: Duration): Poll = {
      val isLate = waits(left)
      waits -= left
      if (left == 0) Poll.Ended
      else {
        left -= 1
        if (isLate) Poll.Pending else Poll.Found
      }
    }
    override def get(): String            = name
    override def unread: List[SplitRange] = if (left == 0) Nil else Items(name, left) :: other
    override def close(): Unit            = ()
  }

  test("while one reader is read, the unread ranges of all other readers are the same list after each item") {
    val readers  = Seq(new Sharing("a", 7, 4), new Sharing("b", 6, 4, 2), new Sharing("c", 3))
    val sequence = new ReaderSequence[String](readers.map(one => one.unread -> (() => one)), 2)
    var last     = "" -> List.empty[SplitRange]
    val shared   = Iterator.continually(sequence.poll(Poll.Forever)).takeWhile(_ == Poll.Found).map { _ =>
      val now = sequence.get() -> sequence.unread
      assert(now._2.sortBy(_.splitId) == readers.flatMap(_.unread).sortBy(_.splitId))
      val isSame = last._2.nonEmpty && now._2.nonEmpty && (now._2.tail eq last._2.tail)
      last = now
      now._1 -> isSame
    }.toVector
    assert(shared.map(_._1).mkString == "aaabbaaabcccb")
    // After its last item, a reader has no unread ranges.
    assert(shared.map(s => if (s._2) 's' else '-').mkString == "-ss-s-s---s--")
  }
}

private object ReaderSequenceSuite {
  final private case class Count(name: String, value: Long) extends CustomTaskMetric

  /** Unread items of a reader. */
  final private case class Items(splitId: String, count: Int) extends SplitRange
}
