// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.enumerator

import java.time.Duration
import java.util.concurrent.{ExecutionException, TimeUnit}

import scala.annotation.tailrec

import org.apache.kafka.common.KafkaException
import org.apache.kafka.common.errors.{InterruptException, RetriableException, TimeoutException}

import splice.kafka.KafkaErrors

/** Makes calls of the driver to a cluster end in one of three ways: an answer, an interrupt, or an error that says what to do.
  *
  * @param retries
  *   how often an error that may pass is tried again; a timeout is not, since the client has tried for that long already
  * @param shown
  *   an error of the client as it may be shown
  */
final private[splice] class KafkaCalls(
    servers: String,
    timeout: Duration,
    retries: Int,
    interval: Duration,
    shown: Throwable => Throwable
) {

  def apply[A](asked: String)(call: => A): A = attempt(asked, retries)(() => call)

  @tailrec private def attempt[A](asked: String, left: Int)(call: () => A): A =
    once(call) match {
      case Right(answer)               => answer
      case Left(e: InterruptException) =>
        // The client sets the flag again as it throws.
        Thread.interrupted()
        val interrupt = new InterruptedException(s"interrupted while asking $servers ($asked)")
        interrupt.initCause(e)
        throw interrupt
      case Left(e: TimeoutException)               => throw KafkaErrors.unreachable(servers, asked, timeout, shown(e))
      case Left(_: RetriableException) if left > 0 => pause(); attempt(asked, left - 1)(call)
      case Left(e: RetriableException)             => throw KafkaErrors.unreachable(servers, asked, timeout, shown(e))
      case Left(e)                                 => throw KafkaErrors.refused(servers, asked, shown(e))
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
