// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.enumerator

import java.util.concurrent.CountDownLatch

import scala.concurrent.ExecutionContext.Implicits.global
import scala.concurrent.duration.DurationInt
import scala.concurrent.{Await, Future}

import org.scalatest.funsuite.AnyFunSuite

import splice.coordinator.MemorySideLog

final class SharedSideLogSuite extends AnyFunSuite {

  test("a decision that waits blocks no other thread, and the first decision holds") {
    val log          = new SharedSideLog(new MemorySideLog)
    val (made, held) = (new CountDownLatch(1), new CountDownLatch(1))
    val late         = Future(log.getOrCreate("a") {
      made.countDown()
      held.await()
      Seq("late")
    })
    made.await()
    try assert(Await.result(Future(Seq("a", "b").map(log.getOrCreate(_)(Seq("early")))), 1.minute) ==
        Seq(Seq("early"), Seq("early")))
    finally held.countDown()
    assert(Await.result(late, 1.minute) == Seq("early"))
    assert(log.keys("") == Seq("a", "b"))
  }
}
