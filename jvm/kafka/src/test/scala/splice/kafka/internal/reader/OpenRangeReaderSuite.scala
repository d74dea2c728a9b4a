// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.reader

import java.time.Duration

import scala.annotation.tailrec
import scala.collection.mutable
import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import splice.kafka.internal.enumerator.SimulatedRun.{range, t}
import splice.kafka.internal.metrics.TaskReads
import splice.kafka.internal.split.KafkaSplitRange
import splice.source.Poll

/** Tests of readers of open ranges and of unread ranges. */
final class OpenRangeReaderSuite extends AnyFunSuite {

  private def open(partition: Int, from: Long): KafkaSplitRange = range(partition, from, Long.MaxValue)

  private def unread(reader: KafkaSplitReader): Map[Int, Long] = reader.unread.collect { case r: KafkaSplitRange =>
    r.partition.partition -> r.from
  }.toMap

  /** Returns the offsets of records of up to `most` partitions. Other offsets are transaction markers or compacted
    * records.
    */
  private def logs(random: Random, most: Int): Map[Int, Vector[Long]] = (0 to random.nextInt(most)).map { p =>
    p -> LazyList.iterate(random.nextInt(3).toLong)(_ + 1 + random.nextInt(3)).take(random.nextInt(30)).toVector
  }.toMap

  /** Starts or ends validations of positions. */
  private def check(w: SlotWorld, partitions: Set[Int], random: Random): Unit =
    w.client.checking = partitions.filter(_ => random.nextInt(4) == 0).map(w.client.p)

  test("without a record, the ranges are unread, even before the first poll and after a long time") {
    val w      = new SlotWorld(timeout = Duration.ofMillis(20))
    val reader = w.reader(open(0, 5), open(1, 7))
    assert(unread(reader) == Map(0 -> 5L, 1 -> 7L))
    // The wait is far longer than the timeout of a bounded range.
    assert(reader.poll(Duration.ofMillis(200)) == Poll.Pending)
    assert(unread(reader) == Map(0 -> 5L, 1 -> 7L))
    reader.close()
    assert(w.returned == 1)
  }

  test("polled records that were not returned are unread") {
    val w = new SlotWorld
    w.client.bring(0, 5, 6, 9)
    w.client.bring(1, 0, 1)
    val reader = w.reader(open(0, 5), open(1, 0))
    assert(reader.poll(Duration.ZERO) == Poll.Found && reader.poll(Duration.ZERO) == Poll.Found)
    assert(unread(reader) == Map(0 -> 7L, 1 -> 0L))
    assert(reader.poll(Duration.ZERO) == Poll.Found)
    assert(unread(reader) == Map(0 -> 10L, 1 -> 0L))
  }

  test("a new partition in the metadata that no task reads makes the reader stale") {
    val w = new SlotWorld(planned = Map("t" -> 2))
    w.client.know(2)
    val reader = w.reader(open(0, 0))
    assert(reader.poll(Duration.ZERO) == Poll.Pending && !reader.isStale)
    w.client.know(3)
    assert(reader.isStale)
  }

  test("a partition with an unresponsive leader does not delay other partitions, and is unread from its position") {
    val w = new SlotWorld
    w.client.bring(0, 5, 6)
    val reader = w.reader(open(0, 5), open(1, 7))
    assert(reader.poll(Duration.ZERO) == Poll.Found)
    w.client.checking = Set(w.client.p(1))
    assert(reader.poll(Duration.ZERO) == Poll.Found && reader.poll(Duration.ZERO) == Poll.Pending)
    w.client.bring(0, 7)
    assert(reader.poll(Duration.ZERO) == Poll.Found)
    assert(unread(reader) == Map(0 -> 8L, 1 -> 7L))
    // All its records were returned.
    w.client.checking = Set(w.client.p(0))
    assert(reader.poll(Duration.ZERO) == Poll.Pending)
    assert(unread(reader) == Map(0 -> 8L, 1 -> 7L))
  }

  test("returned records are not unread while the client validates the position after them") {
    val w = new SlotWorld
    w.client.bring(0, 5, 6)
    w.client.checking = Set(w.client.p(0))
    val reader = w.reader(open(0, 5), open(1, 0))
    assert(Seq.fill(2)(reader.poll(Duration.ZERO)) == Seq.fill(2)(Poll.Found))
    assert(unread(reader) == Map(0 -> 7L, 1 -> 0L))
    assert(reader.poll(Duration.ZERO) == Poll.Pending)
    assert(unread(reader) == Map(0 -> 7L, 1 -> 0L))
  }

  test("returned leftover records are not unread while the client validates the position after them") {
    val w = new SlotWorld
    w.client.bring(0, 5, 6, 7, 8)
    assert(w.read(range(0, 5, 7)) == Seq(0 -> 5L, 0 -> 6L))
    w.client.checking = Set(w.client.p(0))
    val reader = w.reader(open(0, 7), open(1, 0))
    assert(Seq.fill(2)(reader.poll(Duration.ZERO)) == Seq.fill(2)(Poll.Found))
    assert(unread(reader) == Map(0 -> 9L, 1 -> 0L))
  }

  test("a bounded range ends after its last record while the client validates the position after it") {
    val w = new SlotWorld
    w.client.bring(0, 5, 6, 7)
    w.client.checking = Set(w.client.p(0))
    val reader = w.reader(range(0, 5, 8))
    assert(Seq.fill(4)(reader.poll(Duration.ZERO)) == Seq.fill(3)(Poll.Found) :+ Poll.Ended)
  }

  test("the end of a batch does not wait for an unresponsive leader") {
    val w = new SlotWorld
    w.client.hold(0, first = 0, end = 9)
    w.client.hold(1, first = 0, end = 9)
    w.client.bring(0, 5, 6)
    val reader = w.reader(open(0, 5), open(1, 7))
    assert(reader.poll(Duration.ZERO) == Poll.Found)
    w.client.checking = Set(w.client.p(1))
    val ends = reader.report(ended = false).map(_.content).collect { case reads: TaskReads => reads.ends }
    assert(ends == Seq(Map(t(0) -> 9L)))
  }

  test("a completely read bounded range is not unread") {
    val w = new SlotWorld
    w.client.bring(0, 5, 6, 7)
    val reader = w.reader(range(0, 5, 8), range(1, 0, 2))
    (1 to 3).foreach(_ => assert(reader.poll(Duration.ZERO) == Poll.Found))
    assert(reader.poll(Duration.ZERO) == Poll.Pending)
    assert(unread(reader) == Map(1 -> 0L))
  }

  test("a bounded range is not unread after its last record, even if the poll returned later records") {
    val w = new SlotWorld
    w.client.bring(0, 5, 6, 7, 8, 9)
    val reader = w.reader(range(0, 5, 8), range(1, 0, 2))
    (1 to 3).foreach(_ => assert(reader.poll(Duration.ZERO) == Poll.Found))
    assert(unread(reader) == Map(1 -> 0L))
  }

  test("unread ranges after records of one chunk share all ranges except the first") {
    val w = new SlotWorld
    w.client.bring(0, 5, 6, 7)
    val reader = w.reader(open(0, 5), open(1, 0), open(2, 3))
    val tails  = (1 to 3).map { _ =>
      assert(reader.poll(Duration.ZERO) == Poll.Found)
      reader.unread.tail
    }
    assert(tails.forall(_ eq tails.head) && tails.head.size == 2)
  }

  test("after each record, the unread ranges have exactly the unreturned records") {
    (1L to 300L).foreach { seed =>
      val random = new Random(seed)
      val logs   = this.logs(random, 4)
      val ends   = logs.map { case (p, log) =>
        p -> (if (random.nextBoolean()) Long.MaxValue else random.nextInt(40).toLong)
      }
      val w = new SlotWorld
      random.shuffle(logs.toSeq.filter(log => ends(log._1) > 0).flatMap { case (p, log) =>
        log.grouped(1 + random.nextInt(6)).zipWithIndex.map(p -> _)
      })
        .sortBy(_._2._2).foreach { case (p, (some, _)) => w.client.bring(p, some: _*) }
      val reader = w.reader(logs.keys.toSeq.sorted.filter(ends(_) > 0).map(p => range(p, 0, ends(p))): _*)
      val seen   = mutable.Map.empty[Int, Vector[Long]].withDefaultValue(Vector.empty)
      (0 until 200).foreach { _ =>
        check(w, logs.keySet, random)
        if (reader.poll(Duration.ZERO) == Poll.Found)
          seen(reader.get().getInt(3)) :+= reader.get().getLong(4)
        val left = unread(reader)
        logs.foreach { case (p, log) =>
          val whole = log.filter(_ < ends(p))
          assert(whole.filter(_ < left.getOrElse(p, ends(p))) == seen(p), s"seed $seed, ${t(p)}")
        }
      }
      logs.foreach { case (p, log) => assert(seen(p) == log.filter(_ < ends(p)), s"seed $seed, ${t(p)}") }
    }
  }

  test("readers that continue with the unread ranges return each record once, in order") {
    (1L to 300L).foreach { seed =>
      val random = new Random(seed)
      val logs   = this.logs(random, 3)

      @tailrec def read(from: Map[Int, Long], rows: Vector[(Int, Long)], readers: Int): Vector[(Int, Long)] = {
        val w    = new SlotWorld
        val left = logs.map { case (p, log) => p -> log.filter(_ >= from(p)) }
        if (left.forall(_._2.isEmpty) || readers > 200) rows
        else {
          left.toSeq.flatMap { case (p, log) => log.grouped(1 + random.nextInt(6)).map(p -> _).toSeq }
            .groupBy(_._1).values.flatten.foreach { case (p, some) => w.client.bring(p, some: _*) }
          val reader = w.reader(from.toSeq.sorted.map { case (p, offset) => open(p, offset) }: _*)
          val polls  = random.nextInt(20)
          val found  = (0 until polls).flatMap { _ =>
            check(w, logs.keySet, random)
            Option.when(reader.poll(Duration.ZERO) == Poll.Found)(reader.get().getInt(3) -> reader.get().getLong(4))
          }
          val next = unread(reader)
          reader.close()
          read(next, rows ++ found, readers + 1)
        }
      }
      val rows = read(logs.map { case (p, _) => p -> 0L }, Vector.empty, readers = 0)
      logs.foreach { case (p, log) =>
        assert(rows.collect { case (`p`, offset) => offset } == log, s"seed $seed, ${t(p)}")
      }
    }
  }
}
