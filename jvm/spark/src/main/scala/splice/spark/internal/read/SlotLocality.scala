// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark.internal.read

import scala.collection.mutable

import org.apache.spark.{SparkContext, SparkEnv}

import splice.source.TaskRanges

/** The executor that read each slot last. The reader of the slot is still open on that executor. The driver uses the
  * instance when it plans tasks.
  *
  * A task that prefers an executor waits for this executor for `spark.locality.wait`, even while another core is free.
  * Therefore a task prefers an executor only if the executor is alive and has a core for the task. Other tasks have no
  * preference and start on any free core. A new or lost executor moves only the slots that it read.
  */
final private[spark] class SlotLocality(cores: () => Map[String, Int]) {

  private val homes = mutable.Map.empty[Int, SlotHome]

  private var moved = 0L

  /** The number of times that a slot was read on another executor than before. */
  def moves: Long = moved

  /** Returns the preferred locations of each task of a batch: the last executor of its slot, or the hosts of its data.
    */
  def locations(tasks: Seq[TaskRanges]): Seq[Array[String]] = {
    val left = if (homes.isEmpty) mutable.Map.empty[String, Int] else mutable.Map.from(cores())
    val sent = mutable.Set.empty[Int]
    tasks.map { task =>
      task.slot match {
        case Some(slot) => homes.get(slot).filter(takes(left, sent, slot)).map(_.location).toArray
        case None       => task.ranges.iterator.flatMap(_.preferredHosts).distinct.take(3).toArray
      }
    }
  }

  /** Records the executors on which tasks have read slots. */
  def learn(read: Seq[(Int, SlotHome)]): Unit = read.foreach { case (slot, home) =>
    if (homes.put(slot, home).exists(_ != home)) moved += 1
  }

  // Only one of several tasks of a slot can reuse the reader of the slot.
  private def takes(left: mutable.Map[String, Int], sent: mutable.Set[Int], slot: Int)(home: SlotHome): Boolean = {
    val room = left.getOrElse(home.address, 0) > 0 && sent.add(slot)
    if (room) left(home.address) -= 1
    room
  }
}

/** An executor.
  *
  * @param address
  *   the host and port of the executor in Spark's status
  * @param location
  *   the location string by which a task prefers the executor
  */
final private[spark] case class SlotHome(address: String, location: String)

private[spark] object SlotHome {

  // Spark's id of the executor in local mode, which has no other executor.
  private val Driver = "driver"

  /** Returns the executor of the running task, None in local mode. */
  def ofTask: Option[SlotHome] = {
    val env = SparkEnv.get
    val id  = env.blockManager.blockManagerId
    Option.when(env.executorId != Driver)(SlotHome(
      s"${id.host}:${id.port}",
      s"executor_${id.host}_${env.executorId}"
    ))
  }
}

private[spark] object SlotLocality {

  def apply(context: SparkContext): SlotLocality = new SlotLocality(() => cores(context))

  /** Returns the number of tasks that each live executor can run at a time. Other work on the executors is not
    * subtracted, because Spark's status shows this work too late.
    */
  private def cores(context: SparkContext): Map[String, Int] = {
    val executors = context.getExecutorMemoryStatus.keySet
    val conf      = context.getConf
    // The status includes the driver.
    val others = math.max(executors.size - 1, 1)
    val tasks  = conf.getOption("spark.executor.cores").fold(ExecutorTasks.atSameTime(context) / others) { cores =>
      cores.toInt / conf.getInt("spark.task.cpus", 1)
    }
    executors.iterator.map(_ -> math.max(tasks, 1)).toMap
  }
}
