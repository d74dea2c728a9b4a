// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.cluster

import java.time.Duration
import java.util.concurrent.{ExecutionException, TimeUnit}

import scala.annotation.tailrec

import org.apache.kafka.common.KafkaException
import org.apache.kafka.common.errors.{InterruptException, RetriableException, TimeoutException}

import splice.kafka.internal.errors.KafkaErrors

/** Runs requests of the driver to a cluster. A request ends with a response, an interrupt, or an error that names a
  * solution.
  *
  * @param retries
  *   the number of repetitions after a retriable error; there is none after a timeout, since the client has retried for
  *   that time
  * @param shown
  *   removes secrets from an error of the client
  */
final private[splice] class KafkaCalls(
    servers: String,
    timeout: Duration,
    retries: Int,
    interval: Duration,
    shown: Throwable => Throwable
) {

  def apply[A](requested: String)(call: => A): A = attempt(requested, retries)(() => call)

  @tailrec private def attempt[A](requested: String, left: Int)(call: () => A): A =
    once(call) match {
      case Right(response)             => response
      case Left(e: InterruptException) =>
        // The client sets the interrupt flag again before it throws this exception.
        Thread.interrupted()
        val interrupt = new InterruptedException(s"interrupted during a request to $servers ($requested)")
        interrupt.initCause(e)
        throw interrupt
      case Left(e: TimeoutException) => throw KafkaErrors.unreachable(servers, requested, timeout, shown(e))
      case Left(_: RetriableException) if left > 0 => pause(); attempt(requested, left - 1)(call)
      case Left(e: RetriableException) => throw KafkaErrors.unreachable(servers, requested, timeout, shown(e))
      // An outage of the name service is an outage of the cluster.
      case Left(e) if KafkaErrors.isUnresolved(e) =>
        throw KafkaErrors.unreachable(servers, requested, timeout, shown(e))
      case Left(e) => throw KafkaErrors.rejected(servers, requested, shown(e))
    }

  private def once[A](call: () => A): Either[KafkaException, A] =
    try Right(call())
    catch {
      case e: KafkaException     => Left(e)
      case e: ExecutionException =>
        e.getCause match {
          case cause: KafkaException => Left(cause)
          case cause                 => Left(new KafkaException(cause))
        }
    }

  private def pause(): Unit = TimeUnit.MILLISECONDS.sleep(interval.toMillis)
}
