// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.coordinator.internal.slots

import java.time.{Clock, Duration, Instant}

import org.slf4j.LoggerFactory

/** The number of slots of a run. The first number is the number of tasks that Spark can run at a time when the run
  * starts. Another number applies after the number has been stable for one minute. One thread uses the instance.
  *
  * @param available
  *   returns the number of tasks that can run at a time now
  */
final private[coordinator] class SlotCount(first: Int, available: () => Int, clock: Clock) {

  import SlotCount._

  private var used                          = first
  private var other: Option[(Int, Instant)] = None

  /** The number of slots of the last batch. Before the first plan, the number of slots of the first batch. */
  def current: Int = used

  /** Returns the number of slots for a batch that is planned now.
    *
    * The coordinator calls this method only for batches with rows. Spark removes idle executors, and requests more
    * executors only if tasks wait for a core. If an idle query followed the number of cores, it would later start only
    * as many tasks as the remaining cores can run. Then no task would wait, and Spark would request no executors.
    */
  def next(): Int = {
    // No task can run while no core is available. The value 0 is therefore a temporary state, and is ignored.
    val slots = Option(available()).filter(_ > 0).getOrElse(used)
    val now   = clock.instant()
    other = other.filter(_ => slots != used) match {
      case Some((`slots`, since)) if !now.isBefore(since.plus(Stable)) =>
        logger.info(
          s"The number of slots changes from $used to $slots, because Spark has had cores for $slots tasks at a time since $since."
        )
        used = slots
        None
      case pending @ Some((`slots`, _)) => pending
      case _                            => if (slots == used) None else Some(slots -> now)
    }
    used
  }
}

private[coordinator] object SlotCount {

  private val logger = LoggerFactory.getLogger(classOf[SlotCount])

  /** The period for which another number of cores must be available before the number applies. */
  val Stable: Duration = Duration.ofMinutes(1)
}
