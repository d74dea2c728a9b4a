// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.enumerator

import java.time.Duration

import scala.collection.immutable.{SortedMap, SortedSet}

import org.scalatest.funsuite.AnyFunSuite

import splice.coordinator.MemorySideLog
import splice.kafka.options.{EndingOffsets, OutOfRange, Subscription}
import splice.kafka.split.KafkaPosition
import splice.source.{LogPartition, ReadMode}

final class EndingLogSuite extends AnyFunSuite {

  private val partitions = SortedSet(LogPartition("t", 0), LogPartition("t", 1))

  private def at(offsets: Long*): KafkaPosition =
    KafkaPosition.of(SortedMap.from(offsets.zipWithIndex.map { case (o, p) => LogPartition("t", p) -> o }))

  test("of two drivers, the second has the end and the start that the first has stored; a later start replaces both") {
    val log = new SimulatedLog(Subscription.Topics(SortedSet("t")))
    log.create("t", 2)
    val side            = new MemorySideLog
    def open: EndingLog = {
      val looks = new SecondLook(1, Duration.ZERO, _ => ())
      new EndingLog(
        side,
        log,
        ReadMode.Stream,
        new StartResolver(log, new Retention(log, OutOfRange.Fail), looks, None)
      )
    }
    val (first, second) = (open, open)
    log.fill("t", 0, 3)
    val stored = first.begin(EndingOffsets.Latest, at(1, 0), partitions)
    log.fill("t", 1, 5)
    assert(stored == EndingLog.Entry(at(3, 0), at(1, 0)))
    assert(second.begin(EndingOffsets.Latest, at(1), partitions) == stored)
    assert(open.resolve(EndingOffsets.Latest, at(1, 0), partitions) == stored)
    assert(open.begin(EndingOffsets.Latest, at(2, 0), partitions) == EndingLog.Entry(at(3, 5), at(2, 0)))
    assert(side.keys("ending-").size == 2)
  }
}
