// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.cluster

import java.time.{Duration, Instant}
import java.util.concurrent.TimeoutException

import org.apache.kafka.common.errors.SaslAuthenticationException
import org.scalatest.funsuite.AnyFunSuite

import splice.kafka.internal.errors.KafkaErrors

/** Tests of the record of requests to a cluster. */
final class ClusterHealthSuite extends AnyFunSuite {

  private val t0     = Instant.parse("2026-01-01T00:00:00Z")
  private val second = Duration.ofSeconds(1)
  private val minute = Duration.ofMinutes(1)
  private val silent = KafkaErrors.unreachable("east:9092", "its topics", second, new TimeoutException("late"))
  private val login  = KafkaErrors.rejected("east:9092", "its topics", new SaslAuthenticationException("no"))

  private def delays(error: Throwable): Seq[Duration] =
    Iterator.iterate(ClusterHealth())(_.failed(t0, t0, error)).drop(1).take(12).map(h =>
      Duration.between(t0, h.next)
    ).toSeq

  test("the delay of the next request doubles up to 10 seconds, and up to 5 minutes after failed logins") {
    val (other, logins) = (delays(silent), delays(login))
    assert(other.take(3) == Seq(500L, 1000L, 2000L).map(Duration.ofMillis(_)) && other.last == second.multipliedBy(10))
    assert(logins.take(3) == Seq(5L, 10L, 20L).map(Duration.ofSeconds(_)) && logins.last == minute.multipliedBy(5))
  }

  test("a batch does not wait for an unavailable cluster, and waits again after a long batch or trigger") {
    val failed = ClusterHealth().failed(t0, t0, silent)
    assert(ClusterHealth().isWaitedFor(t0, second))
    assert(!failed.isWaitedFor(t0.plus(minute), second) && failed.isWaitedFor(t0.plusSeconds(100), second))
    val slow = ClusterHealth().slow(t0)
    assert(!slow.isWaitedFor(t0.plus(minute), second) && slow.isWaitedFor(t0.plusSeconds(100), second))
    assert(failed.succeeded.isWaitedFor(t0, second))
  }

  test("a timeout requires a failed request that was sent after the timeout") {
    val failed = ClusterHealth().failed(t0, t0, silent)
    val late   = t0.plus(minute.multipliedBy(10))
    // In a batch of ten minutes, no request was sent after the deadline.
    assert(!failed.isOver(minute) && failed.failed(late, late, silent).isOver(minute))
    assert(!ClusterHealth().isOver(minute) && !failed.succeeded.isOver(minute))
  }
}
