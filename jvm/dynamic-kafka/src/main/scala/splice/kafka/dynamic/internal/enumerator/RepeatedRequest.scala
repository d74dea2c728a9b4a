// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.enumerator

import java.time.{Clock, Duration}

import scala.annotation.tailrec

import org.slf4j.LoggerFactory

import splice.kafka.dynamic.internal.errors.DynamicErrors
import splice.kafka.internal.errors.KafkaErrors
import splice.source.errors.SpliceException

/** Repeats a request to a cluster that the query needs, until `timeout` is over.
  *
  * @param before
  *   runs before each further attempt
  */
final private[dynamic] class RepeatedRequest(clock: Clock, timeout: Duration)(before: () => Unit) {

  /** Sends a request and returns the response.
    *
    * @param isRepeated
    *   true if a request is repeated after an error
    */
  def apply[A](cluster: String, isRepeated: SpliceException => Boolean = KafkaErrors.isOfCluster)(request: => A): A = {
    val began = clock.instant()

    @tailrec def again(): A = attempt(request) match {
      case Right(response)                                          => response
      case Left(e) if !isRepeated(e)                                => throw e
      case Left(e) if clock.instant().isBefore(began.plus(timeout)) =>
        RepeatedRequest.log.warn(s"Waiting for cluster $cluster: ${e.getMessage}")
        before()
        again()
      case Left(e) => throw DynamicErrors.unavailable(Seq(cluster), began, e)
    }
    again()
  }

  private def attempt[A](request: => A): Either[SpliceException, A] =
    try Right(request)
    catch { case e: SpliceException => Left(e) }
}

private object RepeatedRequest {
  private val log = LoggerFactory.getLogger(classOf[RepeatedRequest])
}
