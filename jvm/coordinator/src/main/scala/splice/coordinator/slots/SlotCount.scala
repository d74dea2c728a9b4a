// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.coordinator.slots

import java.time.{Clock, Duration, Instant}

import org.slf4j.LoggerFactory

/** The number of slots of a run: the tasks that Spark can run at a time at its start, and later the number that has been the same for a
  * minute. Used by one thread.
  *
  * @param available
  *   how many tasks can run at a time now
  */
final private[coordinator] class SlotCount(first: Int, available: () => Int, clock: Clock) {

  import SlotCount._

  private var used                          = first
  private var other: Option[(Int, Instant)] = None

  /** The number of the last batch, or of the first one before it is planned. */
  def current: Int = used

  /** The number for a batch that is planned now.
    *
    * Only batches with rows count cores. Spark removes executors that are idle, and requests more only if tasks wait for a core. A query
    * that followed the cores while it was idle would start no more tasks than the few cores that are left, and no task would ever wait.
    */
  def next(): Int = {
    // No task runs while no core is available, so 0 is a state between two numbers.
    val found = Option(available()).filter(_ > 0).getOrElse(used)
    val now   = clock.instant()
    other = other.filter(_ => found != used) match {
      case Some((`found`, since)) if !now.isBefore(since.plus(Stable)) =>
        logger.info(
          s"The number of slots changes from $used to $found, because Spark has had cores for $found tasks at a time since $since."
        )
        used = found
        None
      case pending @ Some((`found`, _)) => pending
      case _                            => if (found == used) None else Some(found -> now)
    }
    used
  }
}

private[coordinator] object SlotCount {

  private val logger = LoggerFactory.getLogger(classOf[SlotCount])

  /** For how long another number of cores must be available. */
  val Stable: Duration = Duration.ofMinutes(1)
}
