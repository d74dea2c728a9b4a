// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.bounds

import java.time.{Clock, Duration}

import scala.collection.immutable.{SortedMap, SortedSet}

import org.scalatest.funsuite.AnyFunSuite

import splice.coordinator.internal.sidelog.MemorySideLog
import splice.kafka.Place
import splice.kafka.internal.cluster.Recheck
import splice.kafka.internal.enumerator.SimulatedLog
import splice.kafka.internal.errors.SkippedRows
import splice.kafka.internal.options.{OutOfRange, Subscription}
import splice.kafka.internal.split.KafkaPosition
import splice.source.{EnumeratorContext, LogPartition, ReadMode, StoredStart}

final class EndingEntriesSuite extends AnyFunSuite {

  private val partitions = SortedSet(LogPartition("t", 0), LogPartition("t", 1))

  private def at(offsets: Long*): KafkaPosition =
    KafkaPosition.of(SortedMap.from(offsets.zipWithIndex.map { case (o, p) => LogPartition("t", p) -> o }))

  /** Topic that grows, with runs that start its source. */
  private trait World {
    val log: SimulatedLog = new SimulatedLog(Subscription.Topics(SortedSet("t")))
    log.create("t", 2)
    log.fill("t", 0, 3)
    val side = new MemorySideLog

    def open(start: KafkaPosition*): EndingEntries = {
      val recheck = new Recheck(1, Duration.ZERO, _ => ())
      val stored  = start.headOption.map(position => StoredStart(position.json))
      val context = EnumeratorContext(side, ReadMode.Stream, Clock.systemUTC(), 2, "ending", start = stored)
      new EndingEntries(
        context,
        log,
        new StartResolver(log, new Retention(log, OutOfRange.Fail, new SkippedRows), recheck, None),
        new StartEntries(side),
        () => new SkipEntries(side).known,
        _ => ()
      )
    }

    def begin(in: EndingEntries, start: KafkaPosition): EndingEntries.Entry =
      in.begin(Place.Latest, start, partitions)
  }

  test("the first end of a start is kept, for another driver and for a run after a kill") {
    new World {
      val (first, second) = (open(), open())
      assert(begin(first, at(1, 0)) == EndingEntries.Entry(at(3, 0), at(1, 0)))
      log.fill("t", 1, 5)
      assert(begin(second, at(1, 0)) == EndingEntries.Entry(at(3, 0), at(1, 0)))
      assert(begin(open(), at(1, 0)) == EndingEntries.Entry(at(3, 0), at(1, 0)))
      assert(side.keys("ending-").size == 1)
    }
  }

  test("drivers that begin at several positions have one end per position") {
    new World {
      val drivers = Vector.fill(6)(open())
      drivers.zipWithIndex.foreach { case (driver, i) =>
        begin(driver, at(i % 3L, 0))
        log.fill("t", 0, 1)
      }
      assert(side.keys("ending-").size == 3)
      (0L until 3L).foreach(i => assert(open(at(i, 0)).end.contains(at(3 + i, 0))))
      assert(drivers.zipWithIndex.forall { case (driver, i) => driver.end.contains(at(3 + i % 3L, 0)) })
    }
  }

  test("the end belongs to the stored start, independent of the driver that stored its end last") {
    new World {
      val (first, second) = (open(), open())
      begin(first, at(1, 0))
      log.fill("t", 1, 5)
      assert(begin(second, at(2, 0)) == EndingEntries.Entry(at(3, 5), at(2, 0)))
      assert(open(at(1, 0)).end.contains(at(3, 0)) && open(at(2, 0)).end.contains(at(3, 5)))
    }
  }

  test("an end that is decided after the start is kept for this and later runs") {
    new World {
      val first = open(at(0, 0))
      def end() = first.resolve(Place.Latest, at(2, 0), partitions).end
      assert(end() == at(3, 0))
      log.fill("t", 1, 5)
      assert(end() == at(3, 0) && first.end.contains(at(3, 0)) && open(at(0, 0)).end.contains(at(3, 0)))
      assert(side.keys("ending-").size == 1)
    }
  }

  test("an end before the position of a source that ran without an end is decided again, once") {
    new World {
      begin(open(), at(1, 0))
      log.fill("t", 0, 6)
      log.fill("t", 1, 5)
      val again = open(at(1, 0))
      def end() = again.resolve(Place.Latest, at(9, 4), partitions)
      assert(end() == EndingEntries.Entry(at(9, 5), at(1, 0)))
      log.fill("t", 1, 5)
      assert(end().end == at(9, 5) && again.end.contains(at(9, 5)))
      val later = open(at(1, 0))
      assert(later.end.contains(at(9, 5)))
      assert(later.resolve(Place.Latest, at(9, 5), partitions).end == at(9, 5))
      assert(side.keys("ending-").size == 2)
    }
  }
}
