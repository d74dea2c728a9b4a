// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.enumerator

import java.time.Instant

import scala.collection.immutable.SortedMap
import scala.util.Using

import org.scalatest.funsuite.AnyFunSuite

import splice.coordinator.internal.sidelog.MemorySideLog
import splice.kafka.internal.enumerator.SimulatedRun.t
import splice.source.StartPosition
import splice.source.errors.SpliceException
import splice.source.log.{LogOutlook, LogRange}

/** Tests of the outlook of logs before tasks read the logs. */
final class OutlookSuite extends AnyFunSuite {

  private def at(millis: Long) = Some(Instant.ofEpochMilli(millis))

  test("the outlook has ranges and times of first records, even before the start, and writes nothing") {
    val run = new SimulatedRun()
    run.log.create("t", 3)
    run.log.write("t", 0, 100, 200, 300, 400)
    run.log.write("t", 1, 150)
    run.log.expire("t", 0, 2)
    val side = new MemorySideLog
    Using.resource(run.start(sideLog = side)) { enumerator =>
      assert(enumerator.outlook().logs == SortedMap(
        t(0) -> LogOutlook(LogRange(2, 4), at(300)),
        t(1) -> LogOutlook(LogRange(0, 1), at(150)),
        t(2) -> LogOutlook(LogRange(0, 0), None)
      ))
    }
    assert(side.keys("").isEmpty && run.log.commits.isEmpty)
  }

  test("a missing topic is the same error as at the start") {
    def failure(ask: KafkaEnumerator => Any): String =
      intercept[SpliceException](Using.resource(new SimulatedRun().start())(ask)).getMessage
    assert(failure(_.outlook()) == failure(_.start(StartPosition.Configured)))
    assert(failure(_.outlook()).contains("SPLICE_KAFKA_OPTION.TOPIC_NOT_FOUND"))
  }
}
