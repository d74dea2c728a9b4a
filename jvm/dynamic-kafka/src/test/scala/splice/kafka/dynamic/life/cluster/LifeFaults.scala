// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.life.cluster

import java.time.Duration

import splice.kafka.internal.errors.KafkaErrors
import splice.source.errors.SpliceException
import splice.testkit.simulation.Simulation

/** Fault of a cluster. */
sealed private[dynamic] trait LifeFault extends Product with Serializable

private[dynamic] object LifeFault {
  case object Healthy extends LifeFault

  /** Every request fails. */
  case object Away extends LifeFault

  /** Requests for ends wait before the brokers compute the response. */
  case object Hanging extends LifeFault

  /** Requests for ends wait after the brokers have computed the response. */
  case object Late extends LifeFault

  /** This number of requests succeeds before every request fails. */
  final case class Soon(requests: Int) extends LifeFault

  /** A replica that lacks the last records sends the next response with ends. */
  case object Behind extends LifeFault
}

/** Faults of one cluster for all its clients.
  *
  * @param time
  *   clock of the scenario in milliseconds
  */
final private[dynamic] class LifeFaults(time: () => Long) {

  import LifeFault._

  private var now     = Healthy: LifeFault
  private var round   = 0
  private var overdue = false
  private var delayed = 0
  private var success = Option.empty[Long]
  private var longest = 0L
  private var refused = 0L
  private var met     = Set.empty[String]

  def current: LifeFault = synchronized(now)

  def isHealthy: Boolean = isHealthy(current)

  private def isHealthy(fault: LifeFault): Boolean = fault match {
    case Healthy | Behind => true
    case _                => false
  }

  /** Milliseconds of the longest outage since [[observed]], counted from the last successful request. The outage may
    * have ended.
    */
  def outage: Long = synchronized(math.max(longest, if (isHealthy(now)) 0L else sinceSuccess))

  /** Milliseconds between the last successful request and the last failed request; 0 if the last request was
    * successful. A response may arrive after the outage has ended.
    */
  def refusal: Long = synchronized(refused)

  /** Resets the outage after the call of the query that it affected. */
  def observed(): Unit = synchronized { longest = 0L }

  private def sinceSuccess: Long = success.fold(Long.MaxValue)(time() - _)

  /** Situations of requests that a fault has affected. */
  def effects: Set[String] = synchronized(met)

  /** True if a request waits because of the current fault. */
  def isDelaying: Boolean = synchronized(delayed > 0)

  /** True if a request has waited longer than any test may wait, so the query thread is blocked. */
  def isOverdue: Boolean = synchronized(overdue)

  /** Sets the fault. Waiting requests continue. */
  def set(fault: LifeFault): Unit = synchronized {
    longest = outage
    now = fault
    round += 1
    delayed = 0
    notifyAll()
  }

  def heal(): Unit = set(Healthy)

  def before(request: String): Unit = synchronized {
    now match {
      case Away | Soon(0) =>
        met += "a request fails"
        refused = sinceSuccess
        throw LifeFaults.unreachable(request)
      case Soon(left)              => now = Soon(left - 1)
      case Hanging                 => await(request)
      case Healthy | Late | Behind => ()
    }
  }

  /** End of a log in a response. */
  def end(size: Long): Long = synchronized {
    if (now == Behind && size > 0) met += "a response has a lower end"
    if (now == Behind) math.max(size - LifeFaults.Lag, 0L) else size
  }

  def after(request: String): Unit = synchronized {
    if (now == Late) await(request)
    if (now == Behind && request == "ends") set(Healthy)
    success = Some(time())
    refused = 0L
  }

  private def await(request: String): Unit = if (request == "ends") {
    met += (if (now == Late) "a response is late" else "a request hangs")
    val (begun, limit) = (round, System.nanoTime() + Simulation.Patience.toNanos)
    delayed += 1
    try while (round == begun && System.nanoTime() < limit) wait(Simulation.Patience.toMillis)
    finally if (round == begun) delayed -= 1
    if (round == begun) {
      overdue = true
      throw LifeFaults.unreachable(request)
    }
  }
}

private[dynamic] object LifeFaults {

  /** Number of records that a replica lacks. */
  private val Lag = 2L

  private def unreachable(request: String): SpliceException =
    KafkaErrors.unreachable("simulated:9092", request, Duration.ofSeconds(1), new RuntimeException("simulated fault"))
}
