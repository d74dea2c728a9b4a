// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.internal.cluster

import java.time.{Clock, Duration, Instant}

import scala.annotation.tailrec

import org.slf4j.LoggerFactory

import splice.kafka.internal.errors.KafkaErrors
import splice.source.errors.SpliceException

/** Tolerates an unreachable cluster for up to `clusterTimeout`.
  *
  * @param pause
  *   waits for some time before the next request
  */
final private[internal] class OutageTolerance(patience: Duration, clock: Clock, pause: () => Unit) {

  import OutageTolerance._

  private var since: Option[Instant] = None

  /** Returns the response, or `otherwise` if the cluster does not respond. */
  def idle[A](otherwise: => A)(request: => A): A = attempt(request).getOrElse(otherwise)

  /** Returns the response. Repeats the request while the cluster does not respond. */
  @tailrec def wait[A](request: () => A): A = attempt(request()) match {
    case Some(responded) => responded
    case None            =>
      pause()
      wait(request)
  }

  private def attempt[A](request: => A): Option[A] =
    try {
      val responded = request
      since.foreach(first => logger.info(s"The Kafka servers respond again. The outage began at $first."))
      since = None
      Some(responded)
    } catch {
      case e: SpliceException if KafkaErrors.isUnreachable(e) =>
        val now = clock.instant()
        if (since.isEmpty) logger.warn(s"Splice waits up to ${patience.toSeconds} s for the brokers: ${e.text}")
        since = since.orElse(Some(now))
        if (since.exists(first => !now.isBefore(first.plus(patience)))) throw e
        None
    }
}

private[internal] object OutageTolerance {
  private val logger = LoggerFactory.getLogger(classOf[OutageTolerance])
}
