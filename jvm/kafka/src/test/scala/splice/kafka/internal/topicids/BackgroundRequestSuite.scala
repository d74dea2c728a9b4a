// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.topicids

import java.util.concurrent.{CountDownLatch, LinkedBlockingQueue}

import org.scalatest.funsuite.AnyFunSuite

import splice.testkit.internal.Patient

final class BackgroundRequestSuite extends AnyFunSuite with Patient {

  private val planned = Map("a" -> "1", "b" -> "2")

  test("a pending request does not delay calls, and a later call returns its result") {
    val release   = new CountDownLatch(1)
    val requested = new LinkedBlockingQueue[Set[String]]
    val ids       = new BackgroundRequest({ topics =>
      requested.add(topics.keySet)
      release.await()
      topics - "a"
    })
    assert(ids.missing(planned).isEmpty && ids.missing(planned).isEmpty)
    release.countDown()
    eventually(assert(ids.missing(planned).contains(Set("a"))))
    assert(requested.size == 1)
    // Other topics need another request.
    assert(ids.missing(Map("b" -> "2")).isEmpty)
    eventually(assert(requested.size == 2))
  }

  test("a failed request reports no missing topic") {
    val ids = new BackgroundRequest(_ => throw new InterruptedException("cancelled"))
    assert(ids.missing(planned).isEmpty)
    eventually(assert(ids.missing(planned).contains(Set.empty)))
  }
}
