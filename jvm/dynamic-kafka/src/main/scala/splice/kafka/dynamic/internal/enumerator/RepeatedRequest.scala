// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.enumerator

import java.time.{Clock, Duration, Instant}
import java.util.concurrent.TimeoutException

import scala.annotation.tailrec

import org.slf4j.LoggerFactory

import splice.kafka.dynamic.internal.errors.DynamicErrors
import splice.kafka.internal.errors.KafkaErrors
import splice.source.errors.{SpliceError, SpliceException}

/** Requests to clusters that the query needs. Failed requests are repeated until `timeout` is over. One timer applies to
  * all clusters.
  *
  * @param before
  *   runs before each further attempt
  */
final private[dynamic] class RepeatedRequest(clock: Clock, timeout: Duration)(before: () => Unit) {

  import RepeatedRequest._

  /** Sends requests at the same time and returns all responses.
    *
    * @param requests
    *   functions that send a request to a cluster, as [[splice.kafka.dynamic.internal.cluster.ClusterWorker.ahead]]
    * @param isRepeated
    *   true if a request is repeated after an error
    * @throws splice.source.errors.SpliceException
    *   if clusters do not respond in time. The error names all of these clusters
    */
  def apply[A](
      requests: Seq[(String, Send[A])],
      isRepeated: SpliceException => Boolean = KafkaErrors.isOfCluster
  ): Seq[(String, A)] = {
    val began    = clock.instant()
    val deadline = began.plus(timeout)

    @tailrec def again(open: Seq[(String, Send[A])], received: Seq[(String, A)]): Seq[(String, A)] = {
      val sent    = open.map { case (name, send) => (name, send, send()) }
      val results = sent.map { case (name, send, response) => (name, send, attempt(response(deadline), isRepeated)) }
      val all     = received ++ results.collect { case (name, _, Right(response)) => name -> response }
      val failed  = results.collect { case (name, send, Left(error)) => (name, send, error) }
      failed.headOption match {
        case None                => all
        case Some((_, _, first)) =>
          val isOver = failed.exists { case (_, _, error) => error.isInstanceOf[TimeoutException] }
          if (isOver || !clock.instant().isBefore(deadline))
            throw DynamicErrors.unavailable(failed.map(_._1).distinct, began, first)
          failed.foreach { case (name, _, error) =>
            logger.warn(s"Splice waits for cluster $name: ${SpliceError.text(error)}")
          }
          before()
          again(failed.map { case (name, send, _) => name -> send }, all)
      }
    }
    again(requests, Nil)
  }

  private def attempt[A](response: => A, isRepeated: SpliceException => Boolean): Either[Exception, A] =
    try Right(response)
    catch {
      case e: SpliceException if isRepeated(e) => Left(e)
      case e: TimeoutException                 => Left(e)
    }
}

private[dynamic] object RepeatedRequest {

  private val logger = LoggerFactory.getLogger(classOf[RepeatedRequest])

  /** Sends a request. The returned function waits for the response until a deadline. */
  type Send[A] = () => Instant => A
}
